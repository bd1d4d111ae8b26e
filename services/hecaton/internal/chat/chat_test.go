package chat_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// asking serves a run that asks once, and says how it was resumed.
func asking(t *testing.T) (server *httptest.Server, resumed chan string) {
	t.Helper()
	resumed = make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/agent/invoke", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `data: {"type":"interrupt","seq":1,"reason":"approval","tool_calls":[{"tool_call_id":"c1","tool_name":"click","digest":"d"}]}`+
			"\n\n"+`data: {"type":"complete","seq":2,"finish_reason":"interrupt"}`+"\n\n")
	})
	mux.HandleFunc("POST /api/agent/resume", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		resumed <- string(body)
		_, _ = io.WriteString(w, `data: {"type":"complete","seq":3,"finish_reason":"stop"}`+"\n\n")
	})
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, resumed
}

// Where a person does not answer in time, or never can, the stand-in approves what it is there for; where one answers, it does not.
func TestStandIn(t *testing.T) {
	t.Parallel()
	silent, typing := io.Pipe()
	t.Cleanup(func() { _ = typing.Close() })
	for name, tt := range map[string]struct {
		in       io.Reader
		after    time.Duration
		decision string
		says     bool
		other    bool // the call is none that the stand-in is there for
	}{
		"too late":     {silent, 10 * time.Millisecond, "approved", true, false},
		"nobody":       {strings.NewReader(""), time.Hour, "approved", true, false},
		"in time":      {strings.NewReader("n\n\n"), time.Hour, "rejected", false, false},
		"another call": {strings.NewReader(""), time.Hour, "rejected", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, resumed := asking(t)
			input := chat.NewInput(tt.in, true)
			defer input.Close()
			var out strings.Builder
			c, err := chat.New(chat.Options{
				Client: &chat.Client{Servers: []string{server.URL}, User: "ana"}, Input: input, Out: &out,
				StandIn: &chat.StandIn{
					Approves: func(p chat.Pending) bool { return p.Tool == "click" && !tt.other }, After: tt.after, Says: "the stand-in approves",
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			finish, err := c.Say(t.Context(), "click")
			if err != nil || finish != "stop" || strings.Contains(out.String(), "the stand-in approves") != tt.says {
				t.Errorf("%s, %v: %s", finish, err, &out)
			}
			if got := <-resumed; !strings.Contains(got, fmt.Sprintf(`"decision":%q`, tt.decision)) || !strings.Contains(got, `"digest":"d"`) {
				t.Errorf("resumed with %s", got)
			}
		})
	}
}

func TestSafe(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\n\ttext":     "plain\n\ttext",
		"a\r\nb":            "a\nb",
		"a\rb":              `a\x0db`,
		"\x1b[31m":          `\x1b[31m`,
		"\u009b1m":          `\x9b1m`,
		"\u202eabc\u2066":   `\u202eabc\u2066`,
		"\U000e0041":        `\U000e0041`,
		"ü 漢字 👩\u200d💻":     "ü 漢字 👩\u200d💻",
		"non\u00a0breaking": "non\u00a0breaking",
	} {
		if got := chat.Safe(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Whatever is shown, no terminal obeys it.
func FuzzSafe(f *testing.F) {
	f.Add("a\x1b[2Jb\r\n\u202e")
	f.Fuzz(func(t *testing.T, in string) {
		for _, r := range chat.Safe(in) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("%q shows %U", in, r)
			}
		}
	})
}
