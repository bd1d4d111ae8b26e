package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// tools is a node of user ana, on the first gateway, for every way to end a call.
func tools(t *testing.T, c *embedded.Cluster) *node.Node {
	t.Helper()
	n, err := node.New(node.Options{Server: "http://" + c.Gateways[0].HTTP, UserID: "ana", NodeID: "desk", Name: "Ana's \x1b[31mdesk"})
	if err != nil {
		t.Fatal(err)
	}
	n.Handle("echo", func(_ context.Context, call node.Call) (node.Result, error) {
		return node.Text(string(call.Arguments)), nil
	})
	n.Handle("fail", func(context.Context, node.Call) (node.Result, error) { return node.Errorf("no such thing"), nil })
	n.Handle("break", func(context.Context, node.Call) (node.Result, error) { return node.Result{}, context.DeadlineExceeded })
	n.Handle("picture", func(context.Context, node.Call) (node.Result, error) {
		return node.Result{Content: []node.Content{
			node.TextContent{Text: "two pictures"}, node.ImageContent{Data: []byte("one"), MimeType: "image/png"},
			node.ImageContent{Data: []byte("two"), MimeType: "image/jpeg"},
		}}, nil
	})
	n.Handle("shot", func(context.Context, node.Call) (node.Result, error) {
		return node.Result{Content: []node.Content{node.TextContent{Text: "done"}}, Screenshot: []byte("screen")}, nil
	})
	n.Handle("steps", func(_ context.Context, call node.Call) (node.Result, error) {
		call.Progress(1, 2, "half")
		return node.Text("all"), nil
	})
	n.Handle("sleep", func(ctx context.Context, _ node.Call) (node.Result, error) {
		<-ctx.Done()
		return node.Result{}, ctx.Err()
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-n.Connected():
	case <-time.After(20 * time.Second):
		t.Fatal("the node does not connect")
	}
	return n
}

// Every way a call can end, through the gateway that does not hold the node, by gRPC and by REST.
func TestCall(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	tools(t, c)
	dir := t.TempDir()
	ways := map[string][]string{
		"gRPC": {"call", "--grpc", c.Gateways[1].GRPC},
		"REST": {"call", "--server", "http://" + c.Gateways[1].HTTP},
	}
	for way, base := range ways {
		for _, tt := range []struct {
			args     []string
			code     int
			out, err string // parts
		}{
			{[]string{"--user", "ana", "echo", "n=3", "name=ana", "list=[1]"}, 0, `{"list":[1],"n":3,"name":"ana"}` + "\n", ""},
			{[]string{"--user", "ana", "echo", `{"deep":{"x":null}}`}, 0, `{"deep":{"x":null}}`, ""},
			{[]string{"--user", "ana", "--node", "desk", "--session", "s1", "--type", "desktop", "echo"}, 0, "{}", ""},
			{[]string{"--user", "ana", "fail"}, 1, "no such thing", "the tool says that it failed"},
			{[]string{"--user", "ana", "break"}, 1, "", "-32603"},
			{[]string{"--user", "ana", "echo", "oops"}, 2, "", "key=value"},
			{[]string{"--user", "bob", "echo"}, 3, "", "NODE_NOT_CONNECTED"},
			{[]string{"--user", "ana", "--node", "other", "echo"}, 3, "", "NODE_NOT_CONNECTED"},
			{[]string{"--user", "ana", "--type", "extension", "echo"}, 3, "", "no node has seen the call"},
			{[]string{"--user", "ana", "fly"}, 3, "", "TOOL_NOT_OFFERED"},
			{[]string{"--user", "ana", "--timeout", "300ms", "sleep"}, 4, "", "hecaton call: "},
			{[]string{"--user", "ana", "picture"}, 0, "two pictures\n[image/png", "--out"},
			{[]string{"--user", "ana", "--out", filepath.Join(dir, way+".png"), "picture"}, 0, "two pictures", "saved"},
			{[]string{"--user", "ana", "--out", filepath.Join(dir, way+"-shot.png"), "shot"}, 0, "done", "saved"},
			{[]string{"--user", "ana", "--out", filepath.Join(dir, "none.png"), "echo"}, 1, "{}", "no image"},
			{[]string{"--user", "a\x01b", "echo"}, 2, "", "control"},
		} {
			t.Run(way+" "+strings.Join(tt.args, " "), func(t *testing.T) {
				t.Parallel()
				code, out, err := do(t, append(append([]string(nil), base...), tt.args...)...)
				if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(out+err, tt.err) {
					t.Errorf("%d\nstdout: %s\nstderr: %s\nwant %d, %q, %q", code, out, err, tt.code, tt.out, tt.err)
				}
				if code == 0 {
					checkFiles(t, tt.args, dir, way)
				}
			})
		}
		t.Run(way+" as it came", func(t *testing.T) {
			t.Parallel()
			for tool, want := range map[string]int{"echo": 0, "fail": 1, "break": 1, "picture": 0} {
				code, out, _ := do(t, append(append([]string(nil), base...), "--user", "ana", "--json", tool)...)
				if code != want || !json.Valid([]byte(out)) {
					t.Errorf("%s: %d %s", tool, code, out)
				}
			}
		})
		t.Run(way+" interrupted", func(t *testing.T) {
			t.Parallel()
			p := start(t, nil, append(append([]string(nil), base...), "--user", "ana", "sleep")...)
			busy := start(t, nil, "nodes", "--user", "ana", "--grpc", c.Gateways[0].GRPC)
			busy.wait()
			if code := p.stop(); code != 4 && code != 3 { // where it was interrupted before it was sent
				t.Errorf("%d %s", code, &p.err)
			}
		})
	}
	t.Run("progress", func(t *testing.T) {
		t.Parallel()
		code, out, err := do(t, append(ways["gRPC"], "--user", "ana", "steps")...)
		if code != 0 || out != "all\n" || !strings.Contains(err, "1 of 2 half") {
			t.Errorf("%d %s %s", code, out, err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		for _, flags := range [][]string{{"--grpc", "127.0.0.1:1"}, {"--server", "http://127.0.0.1:1"}, {"--server", "http://127.0.0.1:1", "--type", "desktop"}} {
			if code, _, err := do(t, append([]string{"call", "--user", "ana", "echo"}, flags...)...); code != 3 {
				t.Errorf("%v: %d %s", flags, code, err)
			}
		}
	})
	t.Run("several nodes", func(t *testing.T) { severalNodes(t, c, ways) })
}

// checkFiles looks at what --out made.
func checkFiles(t *testing.T, args []string, dir, way string) {
	t.Helper()
	want := map[string]string{}
	switch args[len(args)-1] {
	case "shot":
		want[way+"-shot.png"] = "screen"
	case "picture":
		if args[2] == "--out" {
			want[way+".png"], want[way+"-2.png"] = "one", "two"
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// An unbound session of a user with two nodes names both.
func severalNodes(t *testing.T, c *embedded.Cluster, ways map[string][]string) {
	two := start(t, nil, "node", "--server", "http://"+c.Gateways[0].HTTP, "--user", "eve", "--node-id", "one", "--dir", t.TempDir())
	two.says("connected as node one")
	one := start(t, nil, "node", "--server", "http://"+c.Gateways[1].HTTP, "--user", "eve", "--node-id", "two", "--dir", t.TempDir())
	one.says("connected as node two")
	for way, base := range ways {
		code, _, err := do(t, append(append([]string(nil), base...), "--user", "eve", "--session", "s-"+way, "list_directory")...)
		if code != 3 || !strings.Contains(err, "REQUIRES_SELECTION") || !strings.Contains(err, "--node one") || !strings.Contains(err, "--node two") {
			t.Errorf("%s: %d %s", way, code, err)
		}
	}
}

func TestSecuredCall(t *testing.T) {
	t.Parallel()
	p := up(t, []string{"JWT_SECRET=0123456789abcdef0123456789abcdef", "AUTH_MODE=jwt", "SERVICE_TOKEN=a-token-for-services"}, "--demo")
	grpc, http := p.find(`gateway 0 .* gRPC (\S+)`), p.find(`gateway 0 +(http\S+)`)
	if code, _, err := do(t, "call", "--grpc", grpc, "--user", "demo", "list_directory"); code != 3 || !strings.Contains(err, "Unauthenticated") {
		t.Errorf("no service token: %d %s", code, err)
	}
	if code, _, err := do(t, "call", "--grpc", grpc, "--user", "demo", "--service-token", "a-token-for-services", "list_directory"); code != 0 {
		t.Errorf("a service token: %d %s", code, err)
	}
	if code, _, err := do(t, "call", "--grpc", grpc, "--user", "demo", "--service-token", "short", "list_directory"); code != 2 {
		t.Errorf("a short service token: %d %s", code, err)
	}
	if code, _, err := do(t, "call", "--server", http, "--user", "demo", "list_directory"); code != 3 || !strings.Contains(err, "401") {
		t.Errorf("no token: %d %s", code, err)
	}
	if code, _, err := do(t, "node", "--server", http, "--user", "demo", "--token", "nonsense", "--dir", t.TempDir()); code != 1 {
		t.Errorf("a node with a wrong token: %d %s", code, err)
	}
}
