package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// A real desktop node on one gateway, called through the other.
func TestNode(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	dir := t.TempDir()
	n := start(t, []string{"HECATON_USER=ana", "HECATON_SERVER=http://" + c.Gateways[0].HTTP}, "node", "--dir", dir)
	n.says("connecting to http://"+c.Gateways[0].HTTP, "connected as node desktop_ana of user ana",
		"offering read_file, write_file, list_directory, run_command, screenshot in "+dir)
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
	// A second connection under the same id takes over, and the first one says so.
	second := start(t, nil, "node", "--user", "ana", "--server", "http://"+c.Gateways[1].HTTP, "--dir", t.TempDir(), "--node-id", "n1")
	second.says("connected as node n1")
	if code := n.wait(); code != 1 || !strings.Contains(n.err.String(), "another connection") {
		t.Errorf("%d %s", code, &n.err)
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
	n.says("disconnected (the token has come to its end", "again in")
	testkit.Eventually(t, wait, func() bool { return strings.Count(n.out.String(), "connected as node") == 2 }, "the node is connected again")
	if code := n.stop(); code != 0 {
		t.Errorf("%d %s", code, &n.err)
	}
}
