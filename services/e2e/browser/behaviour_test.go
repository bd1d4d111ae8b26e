package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/stubgateway"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
)

// tabAt finds the one open tab at an address.
func tabAt(t *testing.T, call tooltest.Caller, url string) openTab {
	t.Helper()
	var found openTab
	testkit.Eventually(t, patience, func() bool {
		for _, tab := range openTabs(t, call) {
			if tab.URL == url {
				found = tab
				return true
			}
		}
		return false
	}, "%s", "a tab at "+url)
	return found
}

func testTabs(t *testing.T, b *Browser, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/colors.html")
	behind := tabAt(t, call, site.URL("/colors.html"))
	front := b.Open(t, site.URL("/form.html"))
	front.WaitFor(t, `document.readyState === "complete"`)
	active := tabAt(t, call, site.URL("/form.html"))
	if !active.Active {
		t.Fatalf("want the new tab in front, got %+v", active)
	}

	if r := call.Run(t, "get_text", map[string]any{"selector": "#heading"}); r.TabID != active.TabID {
		t.Errorf("without tabId: want tab %d, got %d", active.TabID, r.TabID)
	}
	r, img := call.Picture(t, map[string]any{"tabId": behind.TabID})
	if center := img.Bounds().Size().Div(2); r.TabID != behind.TabID || !sameColor(img, center.X, center.Y, red) {
		t.Errorf("want the tab behind in the picture, got %v of tab %d", img.At(center.X, center.Y), r.TabID)
	}
	if !tabAt(t, call, site.URL("/form.html")).Active {
		t.Error("want the tab in front again that was there before the picture")
	}
	_, img = call.Picture(t, map[string]any{"tabId": behind.TabID, "full_page": true})
	wantWholePage(t, img)
	if !tabAt(t, call, site.URL("/form.html")).Active {
		t.Error("want the tab in front again that was there before the picture of the full page")
	}
	r = call.Run(t, "navigate", map[string]any{"url": site.URL("/next.html"), "tabId": behind.TabID})
	if r.TabID != behind.TabID {
		t.Errorf("navigated tab %d, not %d", r.TabID, behind.TabID)
	}
	if got := textOf(t, call, "#heading"); got != "A form" {
		t.Errorf("the tab in front shows %q", got)
	}
}

func testPicturesTogether(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/colors.html")
	var pictures sync.WaitGroup
	for i := range 6 {
		pictures.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := call(ctx, "screenshot", map[string]any{"full_page": i%2 == 0}); err != nil {
				t.Error(err)
			}
		})
	}
	pictures.Wait()
}

// begin starts a call, which may still be running when begin returns.
func begin(t *testing.T, n *stubgateway.Node, tool string, arguments map[string]any) *stubgateway.Call {
	t.Helper()
	c, err := n.Begin(t.Context(), tool, arguments)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantCancelled waits for a call that was cancelled.
func wantCancelled(t *testing.T, c *stubgateway.Call) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := c.Wait(ctx)
	failure, ok := errors.AsType[*tooltest.Error](err)
	if !ok || failure.Code != -32603 || !strings.Contains(failure.Message, "cancelled") {
		t.Errorf("want it cancelled, got %v", err)
	}
}

// testLeaveLoading navigates away from pages that have not finished loading: their end is not the new page's.
func testLeaveLoading(t *testing.T, b *Browser, call tooltest.Caller, site *Site) {
	for _, path := range []string{"/slow.html?left", "/hang?left-empty"} {
		b.Open(t, site.URL(path))
		_, query, _ := strings.Cut(path, "?")
		testkit.Eventually(t, patience, func() bool { return site.Hangs(query) }, "it loads")
		r := goTo(t, call, site, "/next.html")
		if got := textOf(t, call, "#where"); got != "The next page" || !strings.Contains(r.Content[0].Text, "title: Next") {
			t.Errorf("from %s: want the next page, got %q: %s", path, got, r.Content[0].Text)
		}
	}
}

func testCancel(t *testing.T, n *stubgateway.Node, call tooltest.Caller, site *Site) {
	c := begin(t, n, "navigate", map[string]any{"url": site.URL("/slow.html?cancelled")})
	testkit.Eventually(t, patience, func() bool { return site.Hangs("cancelled") }, "the page waits for its picture")
	if err := n.Cancel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	wantCancelled(t, c)
	testkit.Eventually(t, patience, func() bool { return !site.Hangs("cancelled") }, "the page stops loading")
	goTo(t, call, site, "/next.html")
}

// testLimit starts four navigations that never end, each in a tab of its own: the fourth must wait for a place.
func testLimit(t *testing.T, b *Browser, n *stubgateway.Node, call tooltest.Caller, site *Site) {
	tabs := make([]int, 4)
	for i := range tabs {
		url := site.URL(fmt.Sprintf("/next.html?%d", i))
		b.Open(t, url)
		tabs[i] = tabAt(t, call, url).TabID
	}
	calls := make([]*stubgateway.Call, len(tabs))
	hangs := func(i int) string { return fmt.Sprintf("limit=%d", i) }
	for i, tab := range tabs {
		calls[i] = begin(t, n, "navigate", map[string]any{"url": site.URL("/hang?" + hangs(i)), "tabId": tab})
		if i < 3 {
			testkit.Eventually(t, patience, func() bool { return site.Hangs(hangs(i)) }, "it runs")
		}
	}
	// The fourth is in the extension by now if the ping behind it is answered; then it has had its chance to run.
	pongs := n.Heard("pong")
	if err := n.Send(t.Context(), map[string]any{"type": "ping"}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, func() bool { return n.Heard("pong") > pongs }, "pong")
	if site.Hangs(hangs(3)) {
		t.Error("the fourth call runs beside three others")
	}
	for i, c := range calls {
		if i == 3 {
			testkit.Eventually(t, patience, func() bool { return site.Hangs(hangs(3)) }, "the fourth runs")
		}
		if err := n.Cancel(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		wantCancelled(t, c)
	}
}

func testRepeatedCall(t *testing.T, n *stubgateway.Node, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	c := begin(t, n, "click", map[string]any{"selector": "#count"})
	for range 3 {
		if err := n.Send(t.Context(), c.Request); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := c.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := n.Send(t.Context(), c.Request); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, func() bool { return n.Heard("unasked") > 0 }, "the repetition is refused")
	if got := strings.Count(textOf(t, call, "#events"), "count:click"); got != 1 {
		t.Errorf("clicked %d times", got)
	}
}

func testWorkflows(t *testing.T, n *stubgateway.Node) {
	for request, answer := range map[string]string{"get_workflows": "workflows_list", "execute_workflow": "task_complete"} {
		if err := n.Send(t.Context(), map[string]any{"type": request, "workflow_id": "wf_abc123"}); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, patience, func() bool { return n.Heard(answer) == 1 }, "%s", answer)
	}
}

func testOddFrames(t *testing.T, n *stubgateway.Node, call tooltest.Caller) {
	odd := []any{nil, 1, "ping", []any{}, map[string]any{"type": "novel"}, map[string]any{"jsonrpc": "2.0"}, map[string]any{"jsonrpc": "2.0", "method": "tools/call"}}
	for _, frame := range odd {
		if err := n.Send(t.Context(), frame); err != nil {
			t.Fatal(err)
		}
	}
	call.Run(t, "list_tabs", nil)
}

func testClosedPage(t *testing.T, b *Browser, call tooltest.Caller) {
	b.Open(t, "chrome://version").WaitFor(t, `document.readyState === "complete"`)
	for tool, arguments := range map[string]map[string]any{
		"get_text": nil,
		"click":    {"selector": "body"},
	} {
		call.Fail(t, -32603, "chrome", tool, arguments)
	}
}
