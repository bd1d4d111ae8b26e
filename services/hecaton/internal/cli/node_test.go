package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

// A real desktop node on one gateway, called through the other.
func TestNode(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	dir := t.TempDir()
	n := start(t, []string{"HECATON_USER=ana", "HECATON_SERVER=http://" + c.Gateways[0].HTTP}, "node", "--dir", dir, "--allow-commands", "--sandbox", "off")
	n.says("connecting to http://"+c.Gateways[0].HTTP, "connected as node desktop_ana of user ana",
		"offering read_file, write_file, list_directory, run_command, screenshot in "+dir, "commands run as you and can do whatever you can: the sandbox is off")
	other := []string{"call", "--user", "ana", "--grpc", c.Gateways[1].GRPC}
	if code, out, err := do(t, append(other, "write_file", "path=a.txt", "content=hello")...); code != 0 {
		t.Errorf("%d %s %s", code, out, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	if code, out, err := do(t, append(other, "run_command", "command=echo from $PWD")...); code != 0 || !strings.Contains(out, "from "+dir) {
		t.Errorf("%d %s %s", code, out, err)
	}
	if code := n.stop(); code != 0 || !n.has("stopped") {
		t.Errorf("%d %s%s", code, &n.out, &n.err)
	}
}

func TestNodeOffersWhatItIsTold(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	n := start(t, nil, "node", "--user", "ana", "--server", "http://"+c.Gateways[0].HTTP, "--dir", t.TempDir(), "--tools", "read_file", "--node-id", "n1", "--name", "My desk")
	n.says("connected as node n1", "offering read_file in ")
	if code, out, err := do(t, "nodes", "--user", "ana", "--grpc", c.Gateways[1].GRPC); code != 0 || !strings.Contains(out, "My desk") || strings.Contains(out, "run_command") {
		t.Errorf("%d %s %s", code, out, err)
	}
	// A second node with the same id replaces the first one, which reports it.
	second := start(t, nil, "node", "--user", "ana", "--server", "http://"+c.Gateways[1].HTTP, "--dir", t.TempDir(), "--node-id", "n1")
	second.says("connected as node n1")
	if code := n.wait(); code != 1 || !strings.Contains(n.err.String(), "another connection") {
		t.Errorf("%d %s", code, &n.err)
	}
}

// Commands are nothing that a node offers by the way.
func TestNodeOffersNoCommandsUnasked(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	n := start(t, nil, "node", "--user", "ana", "--server", "http://"+c.Gateways[0].HTTP, "--dir", t.TempDir())
	n.says("offering read_file, write_file, list_directory, screenshot in ")
	if code, out, err := do(t, "call", "--user", "ana", "--grpc", c.Gateways[1].GRPC, "run_command", "command=true"); code != 3 || !strings.Contains(err, "TOOL_NOT_OFFERED") {
		t.Errorf("%d %s %s", code, out, err)
	}
	if n.has("commands run") {
		t.Errorf("it speaks of commands: %s", &n.out)
	}
}

// The person at the node decides, call by call.
func TestNodeConfirms(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	dir := t.TempDir()
	terminal, typed := io.Pipe()
	t.Cleanup(func() { _ = typed.Close() })
	n := startEnv(t, cli.Env{Interactive: true, Stdin: terminal, Args: []string{
		"node", "--user", "ana", "--server", "http://" + c.Gateways[0].HTTP, "--dir", dir, "--confirm", "writes", "--allow-commands", "--sandbox", "off",
	}})
	n.says("offering ")
	types := func(line string) {
		t.Helper()
		if _, err := io.WriteString(typed, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	calls := func(args ...string) *program {
		return start(t, nil, append([]string{"call", "--user", "ana", "--grpc", c.Gateways[1].GRPC}, args...)...)
	}
	types("y") // answers nothing that is asked later
	types("y")

	no := calls("run_command", `{"command":"touch a; \u0065cho \u001b[2J\u009b1m\u202e","timeout_ms":5000}`)
	n.says(`run_command {"command":"touch a; echo \u001b[2J\x9b1m\u202e","timeout_ms":5000}` + "\nMay it run? [y/N] ")
	types("no")
	if code := no.wait(); code != 1 || !no.has("run_command was not run: the person at the node said no. Do not try this call again") {
		t.Errorf("%d %s%s", code, &no.out, &no.err)
	}
	if code := calls("list_directory").wait(); code != 0 {
		t.Error("what only reads is asked about")
	}
	yes := calls("write_file", "path=b", "content="+strings.Repeat("x", 3000))
	n.says(`write_file {"content":"xxx`, `… [1976 bytes more]","path":"b"}`+"\nMay it run? [y/N] ")
	types(" Y ")
	if code := yes.wait(); code != 0 {
		t.Errorf("%d %s%s", code, &yes.out, &yes.err)
	}
	late := calls("--timeout", "1s", "run_command", "command=touch c")
	n.says(`run_command {"command":"touch c"}`, "taken back: cancelled by the caller")
	if code := late.wait(); code != 4 {
		t.Errorf("%d %s%s", code, &late.out, &late.err)
	}
	types("y") // too late
	if code := calls("run_command", "command=echo "+strings.Repeat("x", 9000)).wait(); code != 1 || strings.Contains(n.out.String(), "echo xxx") {
		t.Error("it is asked about more than a person reads")
	}
	if err := typed.Close(); err != nil {
		t.Fatal(err)
	}
	gone := calls("run_command", "command=touch d")
	if code := gone.wait(); code != 1 || !gone.has("no terminal") {
		t.Errorf("%d %s%s", code, &gone.out, &gone.err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "b" {
		t.Errorf("%v, %v", files, err)
	}
	if strings.ContainsAny(n.out.String(), "\x1b\u009b\u202e") {
		t.Error("the terminal is given control characters")
	}
}

// Where nobody can be asked nothing runs that has to be.
func TestNodeConfirmsWithoutATerminal(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	n := start(t, nil, "node", "--user", "ana", "--server", "http://"+c.Gateways[0].HTTP, "--dir", t.TempDir(), "--confirm", "all")
	n.says("offering ")
	code, out, _ := do(t, "call", "--user", "ana", "--grpc", c.Gateways[1].GRPC, "list_directory")
	if code != 1 || !strings.Contains(out, "there is no terminal at the node") || !strings.Contains(n.err.String(), "calls that --confirm asks about are refused") {
		t.Errorf("%d %s, the node says %s", code, out, &n.err)
	}
}

// The cluster goes and comes back: the node is there again without anyone's help.
func TestNodeReconnects(t *testing.T) {
	t.Parallel()
	o := embedded.Options{Ports: embedded.Ports{HTTP: testkit.FreePort()}}
	first, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, nil, "node", "--user", "ana", "--server", "http://127.0.0.1:"+strconv.Itoa(o.Ports.HTTP), "--dir", t.TempDir())
	n.says("connected as node")
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	n.says("disconnected (", "again in")
	second, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, wait, func() bool { return strings.Count(n.out.String(), "connected as node") == 2 }, "the node is connected again")
	if code := n.stop(); code != 0 {
		t.Errorf("%d %s", code, &n.err)
	}
	if err := second.Stop(); err != nil {
		t.Error(err)
	}
}

// A token that is renewed in its file keeps the node there.
func TestNodeReadsItsTokenFileAgain(t *testing.T) {
	t.Parallel()
	const key config.Secret = "0123456789abcdef0123456789abcdef"
	c, err := embedded.Start(t.Context(), embedded.Options{
		Auth: auth.Config{Mode: auth.JWT, Secret: key, Leeway: time.Minute}, Services: auth.ServiceAuth{Token: "a-token-for-services"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(t.TempDir(), "token")
	keep := func(expires time.Time) {
		token, err := auth.Mint(key, auth.Claims{User: "ana", Expires: expires})
		if err == nil {
			err = os.WriteFile(path, []byte(token+"\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	keep(time.Now().Add(3*time.Second - time.Minute)) // its connections end in three seconds
	n := start(t, nil, "node", "--user", "ana", "--server", "http://"+c.Gateways[0].HTTP, "--dir", t.TempDir(), "--token-file", path)
	n.says("connected as node")
	keep(time.Now().Add(time.Hour))
	n.says("disconnected (the token has expired", "again in")
	testkit.Eventually(t, wait, func() bool { return strings.Count(n.out.String(), "connected as node") == 2 }, "the node is connected again")
	if code := n.stop(); code != 0 {
		t.Errorf("%d %s", code, &n.err)
	}
}
