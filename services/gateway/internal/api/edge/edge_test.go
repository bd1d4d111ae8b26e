package edge_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

var ok = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		status int
		reason string
		error  string
	}{
		"not delivered":   {errs.New(errs.NodeNotConnected, "away"), 409, "NODE_NOT_CONNECTED", "away"},
		"unknown outcome": {errs.New(errs.HolderLost, "lost"), 504, "HOLDER_LOST", "lost"},
		"too large":       {&edge.TooLarge{Limit: 7}, 413, "TOO_LARGE", "more than 7 bytes"},
		"bad request":     {&edge.BadRequest{Message: "wrong"}, 400, "", "wrong"},
		"bad id":          {ids.Check("node_id", "\x00"), 400, "", "node_id"},
		"registry, bad":   {status.Error(codes.InvalidArgument, "no such type"), 400, "", "no such type"},
		"registry, none":  {status.Error(codes.NotFound, "no such node"), 404, "", "no such node"},
		"our own fault":   {errors.New("secret address"), 500, "", "internal error"},
	} {
		w := httptest.NewRecorder()
		edge.NewProblem(tt.err, nil).Write(w)
		var p struct {
			Success       bool
			Status        int
			Reason, Error string
			Title         string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if w.Code != tt.status || p.Status != tt.status || p.Success || p.Reason != tt.reason || p.Title == "" || !strings.Contains(p.Error, tt.error) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "secret") || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v %s", name, w.Header(), w.Body)
		}
	}
}

func TestOnlyJSONChangesAnything(t *testing.T) {
	t.Parallel()
	layer := edge.JSONOnly("/files/")(ok)
	for name, tt := range map[string]struct {
		method, path, body string
		types              []string
		status             int
	}{
		"JSON":             {"POST", "/x", "{}", []string{"application/json"}, 200},
		"with a charset":   {"POST", "/x", "{}", []string{"application/json; charset=utf-8"}, 200},
		"no body, no type": {"POST", "/x", "", nil, 200},
		"a form":           {"POST", "/x", "a=b", []string{"application/x-www-form-urlencoded"}, 415},
		"no type":          {"POST", "/x", "{}", nil, 415},
		"two types":        {"POST", "/x", "{}", []string{"application/json", "application/json"}, 415},
		"a file":           {"PUT", "/files/a", "x", []string{"image/png"}, 200},
		"PUT elsewhere":    {"PUT", "/x", "x", []string{"image/png"}, 415},
		"reading":          {"GET", "/x", "", []string{"text/plain"}, 200},
	} {
		r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
		r.Header["Content-Type"] = tt.types
		if w := serve(layer, r); w.Code != tt.status {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

func TestOnlyTextPasses(t *testing.T) {
	t.Parallel()
	layer := edge.Text(func(path string) bool { return path == "/ws/web" })(ok)
	for target, want := range map[string]int{
		"/x?a=b": 200, "/x?a=%ff": 400, "/x?%ff=a": 400, "/x?a=%zz": 200, "/ws/web?user_id=%ff": 200, "/%ff": 400, "/x?a=%C3%BC": 200,
	} {
		if w := serve(layer, httptest.NewRequest(http.MethodGet, target, nil)); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-User-Id", "\xff")
	if w := serve(layer, r); w.Code != 400 || !strings.Contains(w.Body.String(), "X-User-Id") {
		t.Errorf("a header: %d %s", w.Code, w.Body)
	}
}

func TestLayersAndLeaving(t *testing.T) {
	t.Parallel()
	var order []string
	layer := func(name string) edge.Layer {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				order = append(order, name)
				next.ServeHTTP(w, r)
			})
		}
	}
	draining := false
	h := edge.Layers(layer("first"), edge.Leaving(func() bool { return draining }), layer("last"))(ok)
	if w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil)); w.Header().Get("Connection") != "" {
		t.Error("the connection is closed without a drain")
	}
	draining = true
	if w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil)); w.Header().Get("Connection") != "close" {
		t.Error("the connection stays open in a drain")
	}
	if strings.Join(order, " ") != "first last first last" {
		t.Errorf("they ran as %q", order)
	}
}

func TestTheGuardKnowsTheUserBeforeTheBody(t *testing.T) {
	t.Parallel()
	a, err := auth.New(auth.Config{Mode: auth.Trusted}, obs.OrDiscard(nil))
	if err != nil {
		t.Fatal(err)
	}
	guard := edge.Guard{Auth: a, Describe: func(err error) edge.Problem { return edge.NewProblem(err, nil) }}
	var body struct {
		A int32 `json:"a"`
	}
	decode := guard.User(auth.Anything, 16, func(_ http.ResponseWriter, r *http.Request, user ids.UserID) error {
		if user != "ana" {
			t.Errorf("the user is %q", user)
		}
		return edge.Decode(r, &body)
	})
	for name, tt := range map[string]struct {
		user, body string
		unknown    bool // how long the body is
		status     int
		has        string
	}{
		"good":             {"ana", `{"a":1}`, false, 200, ""},
		"nobody":           {"", `{"a":1`, false, 400, "name the user"},
		"too long":         {"ana", `{"a":1000000000000}`, false, 413, "16 bytes"},
		"too long, unsaid": {"ana", `{"a":1000000000000}`, true, 413, "16 bytes"},
		"a list":           {"ana", `[]`, false, 400, "must be a JSON object"},
		"another type":     {"ana", `{"a":"b"}`, false, 400, "a must be"},
		"not JSON":         {"ana", `{`, false, 400, "not JSON"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tt.body))
		if tt.user != "" {
			r.Header.Set("X-User-Id", tt.user)
		}
		if tt.unknown {
			r.ContentLength = -1
		}
		if w := serve(decode, r); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.has) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
