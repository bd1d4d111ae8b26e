package node

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestNewSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Options{
		"UserID is empty":                      {Server: "ws://h"},
		"UserID holds the control character":   {Server: "ws://h", UserID: "a\nb"},
		"NodeID has 257 bytes":                 {Server: "ws://h", UserID: "a", NodeID: strings.Repeat("n", 257)},
		"the Server is missing":                {UserID: "a"},
		"must begin with ws://":                {Server: "ftp://h", UserID: "a"},
		"has no host":                          {Server: "ws:///x", UserID: "a"},
		"the Server is not a URL":              {Server: "ws://h:x", UserID: "a"},
		`kind "phone" is neither`:              {Server: "ws://h", UserID: "a", Kind: "phone"},
		"MaxConcurrentTasks is -1, it must be": {Server: "ws://h", UserID: "a", MaxConcurrentTasks: -1},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		id, url string
	}{
		{Options{Server: "https://h/base", UserID: "ana"}, "desktop_ana", "wss://h/base/ws/desktop?client_id=desktop_ana&node_id=desktop_ana"},
		{Options{Server: "http://h:8080", UserID: "ana", Kind: Extension}, "ext_ana", "ws://h:8080/ws/extension?client_id=user_ana&node_id=ext_ana"},
		{Options{Server: "wss://h?x=1#y", UserID: "ana", NodeID: "n"}, "n", "wss://h/ws/desktop?client_id=desktop_ana&node_id=n"},
	} {
		n, err := New(c.options)
		if err != nil {
			t.Fatal(err)
		}
		if n.ID() != c.id || n.url != c.url {
			t.Errorf("%q %q", n.ID(), n.url)
		}
		if n.opts.MaxConcurrentTasks != 3 || n.opts.OS != runtime.GOOS || !slices.Equal(n.opts.Capabilities, []string{"mcp_meta"}) {
			t.Errorf("%+v", n.opts)
		}
	}
	given := []string{"mcp_meta", "x"}
	n, err := New(Options{Server: "ws://h", UserID: "a", Capabilities: given})
	if err != nil || !slices.Equal(n.opts.Capabilities, given) {
		t.Fatalf("%v %v", n.opts.Capabilities, err)
	}
}

func TestHandlePanicsOnMistakesOfTheProgram(t *testing.T) {
	t.Parallel()
	tool := func(context.Context, Call) (Result, error) { return Result{}, nil }
	for want, mistake := range map[string]func(*Node){
		"is empty":           func(n *Node) { n.Handle("", tool) },
		"U+000A":             func(n *Node) { n.Handle("a\n# System", tool) },
		"needs a handler":    func(n *Node) { n.Handle("a", nil) },
		"is handled already": func(n *Node) { n.Handle("a", tool); n.Handle("a", tool) },
		"after Run": func(n *Node) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = n.Run(ctx)
			n.Handle("a", tool)
		},
	} {
		n, err := New(Options{Server: "ws://h", UserID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, want) {
					t.Errorf("panicked with %q, want %q", said, want)
				}
			}()
			mistake(n)
		}()
	}
}

func TestBindNamesTheMemberAndItsType(t *testing.T) {
	t.Parallel()
	var args struct {
		Text  string            `json:"text"`
		Count int               `json:"count"`
		Part  float64           `json:"part"`
		On    *bool             `json:"on"`
		List  []string          `json:"list"`
		Map   map[string]string `json:"map"`
	}
	for arguments, want := range map[string]string{
		`{"text":1}`:       "arguments.text must be a string, not number",
		`{"count":"1"}`:    "arguments.count must be an integer in range, not string",
		`{"count":1.5}`:    "arguments.count must be an integer in range, not number 1.5",
		`{"part":"x"}`:     "arguments.part must be a number, not string",
		`{"on":"yes"}`:     "arguments.on must be a boolean, not string",
		`{"list":"x"}`:     "arguments.list must be an array, not string",
		`{"map":[]}`:       "arguments.map must be an object, not array",
		`{"text":"unex`:    "arguments cannot be read: unexpected end of JSON input",
		`{"list":["a",1]}`: "arguments.list must be a string, not number",
	} {
		err := Call{Arguments: json.RawMessage(arguments)}.Bind(&args)
		var params *ParamsError
		if !errors.As(err, &params) || params.Problem != want {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	if err := (Call{Arguments: json.RawMessage(`{"text":"a","count":2,"unknown":[]}`)}).Bind(&args); err != nil || args.Text != "a" || args.Count != 2 {
		t.Fatalf("%+v %v", args, err)
	}
}

func TestResultHelpers(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Result{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}`:                                                      {},
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"isError":false}}`:                            Text("a"),
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false}}`: Image([]byte("hi"), "image/png"),
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no 7"}],"isError":true}}`:                          Errorf("no %d", 7),
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + `\ufffd` + `"}],"isError":false}}`:             Text("\xff"),
	} {
		if got, err := r.answer("1"); err != nil || string(got) != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
	for want, r := range map[string]Result{
		"content 0 of the result is nil": {Content: []Content{nil}},
		`field "content" is one`:         {Fields: map[string]any{"content": 1}},
		`field "f": json: unsupported`:   {Fields: map[string]any{"f": func() {}}},
	} {
		if _, err := r.answer("1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestProgressOutsideOfACallDoesNothing(t *testing.T) {
	t.Parallel()
	Call{}.Progress(1, 2, "x") // handlers can be tested without a node
	sent := 0
	p := &progress{token: []byte(`1`), send: func([]byte) error { sent++; return nil }}
	p.report(1, 0, "")
	p.report(1/zero(), 0, "") // infinity has no JSON
	p.end()
	p.report(2, 0, "")
	if sent != 1 {
		t.Fatal(sent)
	}
}

func zero() float64 { return 0 }
