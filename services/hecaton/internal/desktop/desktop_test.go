package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen soon.
const patience = 10 * time.Second

// open returns the tools on a new directory, whose real path it is.
func open(t *testing.T) (*Tools, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return openAs(t, dir, Options{Commands: true, Sandbox: SandboxOptions{Mode: SandboxOff}}), dir
}

// openAs returns the tools on a directory, closed with the test.
func openAs(t *testing.T, dir string, o Options) *Tools {
	t.Helper()
	tools, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tools.Close(); err != nil {
			t.Error(err)
		}
	})
	return tools
}

// use calls a tool that must answer.
func use(t *testing.T, tool node.Handler, arguments string) node.Result {
	t.Helper()
	r, err := tool(t.Context(), node.Call{Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return r
}

// good calls a tool that must succeed.
func good(t *testing.T, tool node.Handler, arguments string) node.Result {
	t.Helper()
	r := use(t, tool, arguments)
	if r.IsError {
		t.Fatalf("%s: %s", arguments, text(r))
	}
	return r
}

// bad calls a tool that must fail and say so.
func bad(t *testing.T, tool node.Handler, arguments, want string) {
	t.Helper()
	if r := use(t, tool, arguments); !r.IsError || !strings.Contains(text(r), want) {
		t.Errorf("%s: isError %t, %q, want %q", arguments, r.IsError, text(r), want)
	}
}

// refused calls a tool whose arguments are wrong.
func refused(t *testing.T, tool node.Handler, arguments, want string) {
	t.Helper()
	_, err := tool(t.Context(), node.Call{Arguments: json.RawMessage(arguments)})
	var params *node.ParamsError
	if !errors.As(err, &params) || !strings.Contains(params.Problem, want) {
		t.Errorf("%s: %v, want %q", arguments, err, want)
	}
}

// text joins the texts of a result.
func text(r node.Result) string {
	var b strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(node.TextContent); ok {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	for _, missing := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "file")} {
		if _, err := Open(missing, Options{}); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%s: %v", missing, err)
		}
	}
	_, err := Open(dir, Options{Tools: []string{"read_file", "format_disk"}})
	if err == nil || err.Error() != `there is no tool "format_disk"; there are read_file, write_file, list_directory, run_command, screenshot` {
		t.Error(err)
	}
}

func TestOffersTheToolsThatWereChosen(t *testing.T) {
	t.Parallel()
	every, _ := open(t)
	if got := every.Capabilities(); !slices.Equal(got, []string{"file_system", "command_execution", "screen_capture"}) {
		t.Error(got)
	}
	some := openAs(t, t.TempDir(), Options{Tools: []string{"list_directory", "read_file", "read_file"}})
	if got := some.Capabilities(); !slices.Equal(got, []string{"file_system"}) {
		t.Error(got)
	}
	// Nobody offers run_command without having said so.
	usual := openAs(t, t.TempDir(), Options{})
	if got := usual.Names(); !slices.Equal(got, []string{"read_file", "write_file", "list_directory", "screenshot"}) || usual.Isolation() != "" {
		t.Error(got)
	}
	if _, err := Open(t.TempDir(), Options{Tools: []string{"run_command"}}); err == nil || !strings.Contains(err.Error(), "runs programs as you") {
		t.Error(err)
	}
}

// TestNodeWithTools is the whole way: the tools on a node, called over a WebSocket.
func TestNodeWithTools(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "a.txt"), "hello")
	heard := make(chan string, 8)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		for _, frame := range []string{
			`{"type":"registered","node_id":"desk-1","success":true}`,
			`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`,
			`{"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"run_command","arguments":{"command":"printf out; printf err >&2; exit 3"}}}`,
			`{"jsonrpc":"2.0","id":"3","method":"tools/call","params":{"name":"read_file","arguments":{}}}`,
		} {
			_, got, err := ws.Read(r.Context())
			if err != nil {
				t.Error(err)
				return
			}
			heard <- string(got)
			if err := ws.Write(r.Context(), websocket.MessageText, []byte(frame)); err != nil {
				t.Error(err)
				return
			}
			if strings.Contains(frame, "registered") {
				heard <- "" // nothing answers this one
				if err := ws.Write(r.Context(), websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
					t.Error(err)
				}
			}
		}
		_, got, _ := ws.Read(r.Context())
		heard <- string(got)
		_, _, _ = ws.Read(r.Context()) // the node's goodbye
	}))
	defer gateway.Close()

	n, err := node.New(node.Options{
		Server: gateway.URL, UserID: "ana", NodeID: "desk-1", OS: "Linux", Capabilities: tools.Capabilities(),
	})
	if err != nil {
		t.Fatal(err)
	}
	tools.Register(n)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- n.Run(ctx) }()
	for _, want := range []string{
		`{"type":"register","node_id":"desk-1","node_type":"desktop","os":"Linux","capabilities":["file_system","command_execution","screen_capture","mcp_meta"],` +
			`"available_tools":["read_file","write_file","list_directory","run_command","screenshot"],"max_concurrent_tasks":3}`,
		``,
		`{"type":"pong"}`,
		`{"jsonrpc":"2.0","id":"1","result":{"content":[{"type":"text","text":"hello"}],"isError":false,"offset":0,"size":5,"truncated":false}}`,
		`{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"out\n[stderr]\nerr\n[exit code 3]"}],"isError":false,` +
			`"exit_code":3,"stderr":"err","stdout":"out","timed_out":false,"truncated":false}}`,
		`{"jsonrpc":"2.0","id":"3","error":{"code":-32602,"message":"arguments.path is missing; give the path of a file"}}`,
	} {
		select {
		case got := <-heard:
			if head, rest, ok := strings.Cut(got, `,"tools":[`); ok { // its end is where the message goes on
				at := strings.Index(rest, `],"max_concurrent_tasks"`)
				wantDefinitions(t, "["+rest[:at]+"]")
				got = head + rest[at+1:]
			}
			if got != want {
				t.Errorf("the node sent\n%s\nwant\n%s", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("the node did not send %s", want)
		}
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// wantDefinitions checks that a gateway keeps what the node says of its tools, and that hints are what the table says.
func wantDefinitions(t *testing.T, tools string) {
	t.Helper()
	said, err := tooldef.Read([]byte(tools))
	if err != nil || said.Kept != len(all) || !slices.Equal(said.Names, names(all)) {
		t.Fatalf("%v: %d of %q are kept: %v", err, said.Kept, said.Names, said.Problems)
	}
	for _, tool := range all {
		if d := definitions[tool.name]; d.ReadOnly() != (tool.effect == reads) || d.Title == "" || d.Description == "" {
			t.Errorf("%s", d.Append(nil))
		}
	}
}
