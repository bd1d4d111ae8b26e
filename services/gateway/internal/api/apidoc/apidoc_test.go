package apidoc_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/apidoc"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	pages, err := apidoc.New()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	pages.Routes(mux)
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	if rec.Code != http.StatusOK {
		t.Fatal(rec.Code)
	}
	return rec
}

func document(t *testing.T) *openapi2.T {
	t.Helper()
	var doc openapi2.T
	if err := json.Unmarshal(get(t, "/openapi.json").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

// The validator knows OpenAPI 3, into which the document can be turned: references, parameters of paths, schemas.
func TestOpenAPIIsValid(t *testing.T) {
	t.Parallel()
	doc := document(t)
	if doc.Swagger != "2.0" {
		t.Errorf("it is OpenAPI %s", doc.Swagger)
	}
	v3, err := openapi2conv.ToV3(doc)
	if err == nil {
		err = v3.Validate(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
	for _, path := range []string{
		"/api/agent/invoke", "/api/agent/resume", "/api/agent/sessions/{session_id}/events", "/api/agent/approval-settings",
		"/api/tools/{id}", "/api/tools/call", "/api/workspace/files/{path}", "/api/node/devices",
		"/api/tokens", "/api/tokens/{id}", "/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
	} {
		if doc.Paths[path] == nil {
			t.Errorf("%s is missing", path)
		}
	}
	if own := doc.Paths["/api/tools/oauth/exchange"].Post.Security; own != nil {
		t.Errorf("the exchange asks for %v, and not for a token like the others", own)
	}
}

// Every member of the transcripts' events is described.
func TestEventsAreDescribed(t *testing.T) {
	t.Parallel()
	properties := document(t).Definitions["Event"].Value.Properties
	for _, name := range []string{"seed.sse", "reference.sse"} {
		f, err := os.Open("../agentapi/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		events := 0
		for lines := bufio.NewScanner(f); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			events++
			var members map[string]any
			if err := json.Unmarshal([]byte(data), &members); err != nil {
				t.Fatal(err)
			}
			for member := range members {
				if properties[member] == nil {
					t.Errorf("%s of %s is not described", member, members["type"])
				}
			}
		}
		if events == 0 {
			t.Errorf("%s has no events", name)
		}
	}
}

// The page runs what is in it and loads nothing but the description.
func TestPage(t *testing.T) {
	t.Parallel()
	rec := get(t, "/docs")
	html, policy := rec.Body.String(), rec.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") || strings.Contains(html, "://") {
		t.Errorf("%v", rec.Header())
	}
	for _, tag := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(html, "<"+tag+">")
		inner, _, ok := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(inner))
		want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !ok || !strings.Contains(policy, want) {
			t.Errorf("%q is not in %q", want, policy)
		}
	}
}

// What the edge refuses before any operation is described of all, and of bodies of JSON that they have to be called that.
func TestRefusalsOfTheEdgeAreDescribed(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
	}
	raw, err := apidoc.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for path, statuses := range map[string][]string{"post /api/agent/invoke": {"403", "415", "429"}, "get /api/node/devices": {"403", "429"}} {
		method, path, _ := strings.Cut(path, " ")
		responses := doc.Paths[path][method].Responses
		for _, status := range statuses {
			if responses[status] == nil {
				t.Errorf("%s %s: %s is not described", method, path, status)
			}
		}
		if method == "get" && responses["415"] != nil {
			t.Errorf("%s has no body", path)
		}
	}
}
