package cli_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

const wait = 30 * time.Second

func TestNodes(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	if code, out, err := do(t, "nodes", "--user", "ana", "--grpc", c.Gateways[1].GRPC); code != 0 || out != "" || !strings.Contains(err, "no node") {
		t.Errorf("%d %s %s", code, out, err)
	}
	tools(t, c)
	code, out, err := do(t, "nodes", "--user", "ana", "--grpc", c.Gateways[1].GRPC)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 2 || !strings.HasPrefix(lines[0], "NODE ") {
		t.Fatalf("%d %s %s", code, out, err)
	}
	for _, part := range []string{"desk ", "desktop", "online", "0/3", c.Gateways[0].ID, "echo"} {
		if !strings.Contains(lines[1], part) {
			t.Errorf("%q is not in %s", part, lines[1])
		}
	}
	// A name that somebody else chose does not command the terminal.
	if strings.Contains(out, "\x1b") {
		t.Errorf("an escape sequence passes: %q", out)
	}
	if code, _, err := do(t, "nodes", "--user", "ana", "--grpc", "127.0.0.1:1"); code != 3 {
		t.Errorf("nobody there: %d %s", code, err)
	}

	n := start(t, nil, "node", "--user", "bob", "--server", "http://"+c.Gateways[0].HTTP, "--dir", t.TempDir())
	n.says("connected as node")
	n.stop()
	testkit.Eventually(t, wait, func() bool {
		_, now, _ := do(t, "nodes", "--user", "bob", "--grpc", c.Gateways[1].GRPC)
		_, all, _ := do(t, "nodes", "--user", "bob", "--all", "--grpc", c.Gateways[1].GRPC)
		return now == "" && strings.Contains(all, "offline")
	}, "a node that left is in the whole list only")
}

func TestWatch(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	w := start(t, nil, "watch", "--user", "ana", "--registry", c.Registry.GRPC)
	w.says("watching")
	n := start(t, nil, "node", "--user", "ana", "--node-id", "desk", "--name", "Ana", "--server", "http://"+c.Gateways[0].HTTP, "--dir", t.TempDir())
	w.says("online", "desk (desktop ", "on "+c.Gateways[0].ID)
	n.says("connected")
	n.stop()
	w.says("offline")
	if code := w.stop(); code != 0 {
		t.Errorf("%d %s", code, &w.err)
	}
	if code, _, err := do(t, "watch", "--user", "ana", "--registry", "127.0.0.1:1"); code != 3 {
		t.Errorf("nobody there: %d %s", code, err)
	}
	if code, _, err := do(t, "watch", "--user", "a\x01", "--registry", c.Registry.GRPC); code != 2 {
		t.Errorf("a bad name: %d %s", code, err)
	}
}

// A registry that is replaced costs events, which is said, and not the watch.
func TestWatchAgain(t *testing.T) {
	t.Parallel()
	o := embedded.Options{RegistryPorts: embedded.Ports{GRPC: testkit.FreePort()}}
	first, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, nil, "watch", "--user", "ana", "--registry", "127.0.0.1:"+strconv.Itoa(o.RegistryPorts.GRPC))
	w.says("watching")
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, wait, func() bool { return strings.Contains(w.err.String(), "events were missed") }, "the gap is told")
	second, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, wait, func() bool { return strings.Count(w.out.String(), "watching") == 2 }, "it watches again")
	if code := w.stop(); code != 0 {
		t.Errorf("%d %s", code, &w.err)
	}
	if err := second.Stop(); err != nil {
		t.Error(err)
	}
}
