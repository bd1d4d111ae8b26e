package mcp_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// put stores a file in a user's workspace.
func put(t *testing.T, g *cluster.Gateway, user, path, contentType, content string) {
	t.Helper()
	r := g.Do(t, http.MethodPut, "/api/workspace/files/"+path, user, content, http.Header{"Content-Type": {contentType}})
	if r.Status != http.StatusOK && r.Status != http.StatusCreated {
		t.Fatal(r.Raw)
	}
}

// read reads a resource.
func read(t *testing.T, g *cluster.Gateway, query, uri string) answer {
	t.Helper()
	return newer(t, g, query, "resources/read", `"uri":"`+uri+`"`, "", "Mcp-Name", uri)
}

func TestFilesOfTheWorkspaceAreResources(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	put(t, c.Gateways[0], "ana", "notes/to%20do.md", "text/markdown", "# to do\n")
	put(t, c.Gateways[0], "ana", "pixel.png", "image/png", "\x89PNG\x00")
	put(t, c.Gateways[0], "bob", "secret.txt", "text/plain", "bob's")
	const uri = "hecaton://workspace/notes/to%20do.md"
	for pod, g := range c.Gateways {
		if r := newer(t, g, withAgents, "server/discover", "", ""); r.at("result", "capabilities", "resources") == nil {
			t.Errorf("pod %d: %s", pod, r.Raw)
		}
		r := newer(t, g, withAgents, "resources/list", "", "")
		var uris []string
		list, _ := r.at("result", "resources").([]any)
		for _, resource := range list {
			uris = append(uris, fmt.Sprint(at(resource, "uri"), " ", at(resource, "mimeType"), " ", at(resource, "size")))
		}
		if !slices.Equal(uris, []string{uri + " text/markdown 8", "hecaton://workspace/pixel.png image/png 5"}) || r.at("result", "cacheScope") != "private" {
			t.Errorf("pod %d: %q in %s", pod, uris, r.Raw)
		}
		r = read(t, g, withAgents, uri)
		if r.at("result", "contents", "0", "text") != "# to do\n" || r.at("result", "contents", "0", "uri") != uri || r.at("result", "resultType") != "complete" {
			t.Errorf("pod %d: %s", pod, r.Raw)
		}
		r = read(t, g, withAgents, "hecaton://workspace/pixel.png")
		if r.at("result", "contents", "0", "blob") != base64.StdEncoding.EncodeToString([]byte("\x89PNG\x00")) {
			t.Errorf("pod %d: %s", pod, r.Raw)
		}
		for _, other := range []string{"hecaton://workspace/secret.txt", "hecaton://workspace/../bob/secret.txt", "hecaton://workspace/%2e%2e%2fbob", "file:///etc/passwd", "hecaton://workspace/"} {
			if r := read(t, g, withAgents, other); r.at("error", "code") != -32602.0 {
				t.Errorf("pod %d: %s: %s", pod, other, r.Raw)
			}
		}
		// An older session has the same, without what is new.
		s := session2025(t, g)
		if r := older(t, g, s, withAgents, "resources/read", `"uri":"`+uri+`"`); r.at("result", "contents", "0", "text") != "# to do\n" || r.at("result", "ttlMs") != nil {
			t.Errorf("pod %d: %s", pod, r.Raw)
		}
		// Who does not ask for it is told of no such capability, and has no such methods.
		if r := newer(t, g, "", "server/discover", "", ""); r.at("result", "capabilities", "resources") != nil {
			t.Errorf("pod %d: %s", pod, r.Raw)
		}
		if r := newer(t, g, "", "resources/list", "", ""); r.at("error", "code") != -32601.0 || r.Status != http.StatusNotFound {
			t.Errorf("pod %d: %s", pod, r.Raw)
		}
	}
}

func TestAListOfFilesHasPages(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	for i := range 260 {
		put(t, c.Gateways[0], "ana", fmt.Sprintf("f%03d", i), "text/plain", "x")
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://" + c.Gateways[1].HTTP + "/mcp" + withAgents, HTTPClient: &http.Client{Transport: asAna{}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r, err := range s.Resources(t.Context(), nil) {
		if err != nil || r.URI != fmt.Sprintf("hecaton://workspace/f%03d", n) {
			t.Fatal(err, r)
		}
		n++
	}
	if n != 260 {
		t.Errorf("%d files", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r := newer(t, c.Gateways[0], withAgents, "resources/list", `"cursor":"!"`, ""); r.at("error", "code") != -32602.0 {
		t.Error(r.Raw)
	}
}
