package calls

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

func noToken(string) (string, error) { return "", nil }

// ask makes one attempt at a server.
func ask(ctx context.Context, server string, token string) (string, ledger.End) {
	way := NewREST([]string{server}, func(string) (string, error) { return token, nil }, 1)
	defer way.Close()
	return way.Attempt(ctx, 0, Request{User: "ana", Node: "n", Tool: Tool, Arguments: []byte(`{"n":1}`)})
}

// What the API and what stands before it may answer, and what a caller may assume.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		text   string
		class  ledger.Class
		reason string
	}{
		"a result":              {200, `{"success":true,"result":{"content":[],"text":"1 x"}}`, "1 x", ledger.Answered, ""},
		"a tool that failed":    {200, `{"success":false,"result":{"text":"no"}}`, "no", ledger.Answered, ""},
		"an error of the node":  {200, `{"success":false,"error":{"code":-32000}}`, `{"code":-32000}`, ledger.Answered, ""},
		"no JSON":               {200, `hello`, "", ledger.Unknown, "HTTP_200"},
		"draining":              {503, `{"reason":"DRAINING","outcome":"not_delivered"}`, "", ledger.NotDelivered, "DRAINING"},
		"not connected":         {409, `{"reason":"NODE_NOT_CONNECTED","outcome":"not_delivered"}`, "", ledger.NotDelivered, "NODE_NOT_CONNECTED"},
		"busy":                  {429, `{"reason":"NODE_BUSY","outcome":"not_delivered"}`, "", ledger.NotDelivered, "NODE_BUSY"},
		"the holder is lost":    {504, `{"reason":"HOLDER_LOST","outcome":"unknown"}`, "", ledger.Unknown, "HOLDER_LOST"},
		"timeout":               {504, `{"reason":"TOOL_TIMEOUT","outcome":"unknown"}`, "", ledger.Unknown, "TOOL_TIMEOUT"},
		"a reason of tomorrow":  {504, `{"reason":"COMET","outcome":"unknown"}`, "", ledger.Unknown, "HTTP_504"},
		"tomorrow, undelivered": {503, `{"reason":"COMET","outcome":"not_delivered"}`, "", ledger.NotDelivered, "HTTP_503"},
		"a bad token":           {401, `{"title":"no"}`, "", ledger.NotDelivered, "HTTP_401"},
		"a proxy's page":        {502, `<html>Bad Gateway</html>`, "", ledger.Unknown, "HTTP_502"},
		"a proxy's 503":         {503, `<html>no</html>`, "", ledger.Unknown, "HTTP_503"},
		"a proxy's 404":         {404, `<html>no</html>`, "", ledger.Unknown, "HTTP_404"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.URL.Path != "/api/node/browser/tool" || r.URL.Query().Get("user_id") != "ana" || r.Header.Get("Authorization") != "Bearer t" ||
				!strings.Contains(string(body), `"node_id":"n"`) || !strings.Contains(string(body), `"tool_args":{"n":1}`) {
				t.Errorf("%s %v %s", r.URL, r.Header, body)
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		text, end := ask(t.Context(), s.URL, "t")
		s.Close()
		if text != tt.text || end.Class != tt.class || end.Reason != tt.reason {
			t.Errorf("%s: %q, %+v", name, text, end)
		}
	}
}

// If no connection was made, nothing was sent; if it breaks later, or no answer comes in time, the call may have run.
func TestConnectionsThatFail(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	_ = l.Close()
	if _, end := ask(t.Context(), nobody, ""); end.Class != ledger.NotDelivered || end.Reason != ledger.Refused {
		t.Errorf("nobody there: %+v", end)
	}

	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer breaks.Close()
	if _, end := ask(t.Context(), breaks.URL, ""); end.Class != ledger.Unknown || end.Reason != ledger.Lost {
		t.Errorf("it breaks: %+v", end)
	}

	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"success":`)
	}))
	defer half.Close()
	if _, end := ask(t.Context(), half.URL, ""); end.Class != ledger.Unknown || end.Reason != ledger.Lost {
		t.Errorf("it breaks in the answer: %+v", end)
	}

	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer silent.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, end := ask(ctx, silent.URL, ""); end.Class != ledger.Unknown || end.Reason != ledger.TimedOut {
		t.Errorf("it is silent: %+v", end)
	}
}

// Callers keep their connections, and the next attempt goes to the next server.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	remotes := map[string]int{}
	handler := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		remotes[r.Host+" "+r.RemoteAddr]++
		mu.Unlock()
		_, _ = io.WriteString(w, `{"success":true,"result":{"text":"x"}}`)
	}
	a, b := httptest.NewServer(http.HandlerFunc(handler)), httptest.NewServer(http.HandlerFunc(handler))
	defer a.Close()
	defer b.Close()
	way := NewREST([]string{a.URL, b.URL + "/"}, noToken, 1)
	defer way.Close()
	for try := range int64(20) {
		if text, end := way.Attempt(t.Context(), try, Request{User: "ana", Arguments: []byte("{}")}); text != "x" || end.Class != ledger.Answered {
			t.Fatal(text, end)
		}
	}
	if len(remotes) != 2 {
		t.Errorf("20 calls of a caller took the connections %v", remotes)
	}
	for from, n := range remotes {
		if n != 10 {
			t.Errorf("%s: %d calls", from, n)
		}
	}
}
