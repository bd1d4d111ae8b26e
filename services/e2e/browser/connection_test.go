package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/stubgateway"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
)

// Nothing in these tests touches the extension after its connection has gone: it comes back by itself, or it does not.

func TestReconnect(t *testing.T) {
	t.Parallel()
	_, g, n := start(t, "ext_001")
	for name, end := range map[string]func(*stubgateway.Node){
		"the network fails": (*stubgateway.Node).Drop,
		"the pod drains":    func(n *stubgateway.Node) { n.Close(websocket.StatusServiceRestart, "draining") },
		"no heartbeat came": func(n *stubgateway.Node) { n.Close(4008, "no heartbeat") },
	} {
		end(n)
		n = next(t, g)
		if n.NodeID != "ext_001" || n.Register.NodeID != "ext_001" {
			t.Errorf("after %s: node %s came, registering %s", name, n.NodeID, n.Register.NodeID)
		}
		tooltest.Caller(n.Call).Run(t, "list_tabs", nil)
	}
}

func TestLostConnectionStopsItsCalls(t *testing.T) {
	t.Parallel()
	_, g, n := start(t, "ext_001")
	site := ServeSite(t)
	begin(t, n, "navigate", map[string]any{"url": site.URL("/slow.html?lost")})
	testkit.Eventually(t, patience, func() bool { return site.Hangs("lost") }, "the page loads")
	n.Drop()
	n = next(t, g)
	testkit.Eventually(t, patience, func() bool { return !site.Hangs("lost") }, "the page stops loading")
	tooltest.Caller(n.Call).Run(t, "list_tabs", nil)
	if n.Heard("unasked") != 0 {
		t.Error("the old connection's call was answered on the new one")
	}
}

// TestWorkerSleeps stops the worker, which takes the socket with it, and waits for the alarm that wakes it again.
func TestWorkerSleeps(t *testing.T) {
	t.Parallel()
	b, g, n := start(t, "")
	if !strings.HasPrefix(n.NodeID, "ext_") || n.Register.NodeID != n.NodeID {
		t.Errorf("want a made-up node id, got %q and %q", n.NodeID, n.Register.NodeID)
	}
	site := ServeSite(t)
	goTo(t, n.Call, site, "/form.html")
	done := begin(t, n, "click", map[string]any{"selector": "#count"})
	if _, err := done.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}

	b.StopWorker(t)
	<-n.Gone()
	woken := next(t, g)
	if woken.NodeID != n.NodeID {
		t.Errorf("the node id changed from %s to %s", n.NodeID, woken.NodeID)
	}
	if err := woken.Send(t.Context(), done.Request); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, func() bool { return woken.Heard("unasked") == 1 }, "the call from before is refused")
	if got := strings.Count(textOf(t, woken.Call, "#events"), "count:click"); got != 1 {
		t.Errorf("clicked %d times", got)
	}
}

// TestStaysAwake lives longer than the 30 s after which Chromium stops an idle worker. DevTools, which would keep it
// awake, is not attached to it.
func TestStaysAwake(t *testing.T) {
	t.Parallel()
	b, g, n := start(t, "ext_001")
	testkit.Eventually(t, patience, func() bool {
		return n.Heard("heartbeat") >= 2 && n.Heard("pong") >= 2
	}, "two heartbeats and two pongs")
	if g.Waiting() != 0 || n.Heard("register") != 1 || !b.WorkerRuns(t) {
		t.Error("the connection did not last")
	}
}

func TestSupersededYields(t *testing.T) {
	t.Parallel()
	b, g, n := start(t, "ext_001")
	options := b.OpenOptions(t)
	options.WaitFor(t, status+`.includes("Hecaton: connected")`)

	n.Close(4409, "superseded")
	options.WaitFor(t, status+`.includes("Another browser has connected")`)
	b.StopWorker(t)
	testkit.Eventually(t, patience, func() bool { return b.WorkerRuns(t) }, "the alarm wakes the worker")
	popup := b.OpenPopup(t)
	popup.WaitFor(t, status+`.includes("Another browser has connected")`)
	if g.Waiting() != 0 {
		t.Fatal("it came back although another browser had taken its place")
	}

	popup.Eval(t, `document.getElementById("connect").click()`, nil)
	if back := next(t, g); back.NodeID != "ext_001" {
		t.Errorf("node %s came back", back.NodeID)
	}
	popup.WaitFor(t, status+`.includes("Hecaton: connected")`)
	if g.Waiting() != 0 {
		t.Error("it had come back before it was asked to")
	}
}

func TestRefusedWaitsForOptions(t *testing.T) {
	t.Parallel()
	b, g, n := start(t, "ext_001")
	options := b.OpenOptions(t)
	n.Close(4003, "no such user")
	options.WaitFor(t, status+`.includes("change it in the options")`)
	var badge string
	options.Eval(t, `chrome.action.getBadgeText({})`, &badge)
	if badge != "!" {
		t.Errorf("the badge is %q", badge)
	}
	if g.Waiting() != 0 {
		t.Fatal("it came back although it was refused")
	}

	options.Eval(t, `{
		const form = document.getElementById("options");
		form.elements.user_id.value = "someone else";
		form.elements.token.value = "head.pay-load.sign_ature";
		form.elements.node_name.value = "My browser";
		form.requestSubmit();
	}`, nil)
	back := next(t, g)
	if back.ClientID != "user_someone else" || back.Token != "head.pay-load.sign_ature" || back.Register.NodeName != "My browser" {
		t.Errorf("after the change came %q, token %q, name %q", back.ClientID, back.Token, back.Register.NodeName)
	}
	if back.NodeID != "ext_001" {
		t.Errorf("the node id changed to %s", back.NodeID)
	}
	options.WaitFor(t, `chrome.action.getBadgeText({}).then((text) => text === "on")`)
}

func TestUnconfiguredAsks(t *testing.T) {
	t.Parallel()
	g := stubgateway.Start(t)
	b := Start(t, Options{Server: g.URL()})
	testkit.Eventually(t, patience, func() bool {
		list, err := b.targets(t.Context())
		return err == nil && slices.ContainsFunc(list, func(each target) bool {
			return strings.HasSuffix(each.URL, "/ui/options.html")
		})
	}, "the options open")
	options := b.OpenOptions(t)
	options.WaitFor(t, status+`.includes("not set up")`)
	options.Eval(t, `{
		const form = document.getElementById("options");
		form.elements.user_id.value = "abc123";
		form.requestSubmit();
	}`, nil)
	if n := next(t, g); n.ClientID != "user_abc123" {
		t.Errorf("connected as %s", n.ClientID)
	}
}
