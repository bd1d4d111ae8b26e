package browser

import (
	"encoding/json"
	"image"
	"image/color"
	"strconv"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
)

// TestTools is the contract of the extension's tools, whoever carries the call to it. The Chromium behind the caller
// should show nothing that matters: the suite takes its active tab to the site.
func TestTools(t *testing.T, call tooltest.Caller, site *Site) {
	for _, each := range []struct {
		name string
		test func(*testing.T, tooltest.Caller, *Site)
	}{
		{"navigate waits for the page", testNavigate},
		{"navigate follows redirects", testRedirect},
		{"navigate within a page", testFragment},
		{"navigate says why it failed", testNavigateFails},
		{"type reaches the page's server", testTypeAndSubmit},
		{"type makes the events of typing", testTypeEvents},
		{"type into every kind of field", testTypeFields},
		{"type refuses what takes no text", testTypeRefuses},
		{"click presses buttons and follows links", testClick},
		{"get_text reads what is visible", testGetText},
		{"screenshot shows what is visible", testScreenshot},
		{"screenshot of the full page", testFullPage},
		{"wrong arguments are named", testArguments},
	} {
		t.Run(each.name, func(t *testing.T) { each.test(t, call, site) })
	}
}

// openTab is one entry of list_tabs.
type openTab struct {
	TabID  int    `json:"tabId"`
	URL    string `json:"url"`
	Title  string `json:"title"`
	Active bool   `json:"active"`
}

// textOf reads an element's text.
func textOf(t testing.TB, call tooltest.Caller, selector string) string {
	t.Helper()
	return call.Run(t, "get_text", map[string]any{"selector": selector}).Content[0].Text
}

// openTabs lists the open tabs.
func openTabs(t testing.TB, call tooltest.Caller) []openTab {
	t.Helper()
	var list []openTab
	if err := json.Unmarshal([]byte(call.Run(t, "list_tabs", nil).Content[0].Text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// goTo takes the active tab to a page of the site.
func goTo(t *testing.T, call tooltest.Caller, site *Site, path string) tooltest.Result {
	t.Helper()
	return call.Run(t, "navigate", map[string]any{"url": site.URL(path)})
}

func testNavigate(t *testing.T, call tooltest.Caller, site *Site) {
	r := goTo(t, call, site, "/form.html")
	if !strings.Contains(r.Content[0].Text, site.URL("/form.html")) || !strings.Contains(r.Content[0].Text, strconv.Itoa(r.TabID)) {
		t.Errorf("want the tab and its address, got %q", r.Content[0].Text)
	}
	for _, tab := range openTabs(t, call) {
		if tab.TabID == r.TabID && (tab.URL != site.URL("/form.html") || tab.Title != "Form" || !tab.Active) {
			t.Errorf("list_tabs: want the form in front, got %+v", tab)
		}
	}
	if got := textOf(t, call, "#heading"); got != "A form" {
		t.Errorf("the heading reads %q", got)
	}
	call.Run(t, "navigate", map[string]any{"url": "about:blank"})
	goTo(t, call, site, "/next.html")
	goTo(t, call, site, "/next.html")
}

func testRedirect(t *testing.T, call tooltest.Caller, site *Site) {
	for _, path := range []string{"/redirect.html", "/moved"} {
		goTo(t, call, site, path)
		if got := textOf(t, call, "#where"); got != "The next page" {
			t.Errorf("%s: want the next page, got %q", path, got)
		}
	}
}

func testFragment(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	r := goTo(t, call, site, "/form.html#link")
	if !strings.Contains(r.Content[0].Text, "#link") {
		t.Errorf("want the address with its fragment, got %q", r.Content[0].Text)
	}
}

func testNavigateFails(t *testing.T, call tooltest.Caller, site *Site) {
	call.Fail(t, -32603, "net::ERR_", "navigate", map[string]any{"url": "http://127.0.0.1:1/"})
	call.Fail(t, -32603, "ERR_ABORTED", "navigate", map[string]any{"url": site.URL("/nothing")})
	for _, url := range []string{"", "next.html", "javascript:alert(1)", "file:///etc/hostname", "chrome://settings"} {
		call.Fail(t, -32602, "url", "navigate", map[string]any{"url": url})
	}
	goTo(t, call, site, "/next.html")
}

func testTypeAndSubmit(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	before := len(site.Forms())
	const text = `Grüße, "world" <b> 世界 😀`
	call.Run(t, "type", map[string]any{"selector": "#text", "text": text, "submit": true})
	testkit.Eventually(t, patience, func() bool { return len(site.Forms()) == before+1 }, "the form arrives")
	if got := site.Forms()[before]; got != text {
		t.Errorf("want %q at the server, got %q", text, got)
	}
	testkit.Eventually(t, patience, func() bool {
		_, err := call.Try(t, "get_text", map[string]any{"selector": "#thanks"})
		return err == nil
	}, "the answer is shown")
}

func testTypeEvents(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	call.Run(t, "type", map[string]any{"selector": "#area", "text": "one\ntwo"})
	if got := textOf(t, call, "#area"); got != "one\ntwo" {
		t.Errorf("the area holds %q", got)
	}
	if got := textOf(t, call, "#events"); !strings.Contains(got, "area:input") || !strings.Contains(got, "area:change") {
		t.Errorf("want input and change events, got %q", got)
	}
}

func testTypeFields(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	for selector, text := range map[string]string{"#text": "new", "#day": "2024-02-29", "#rich": "richer", "#area": ""} {
		call.Run(t, "type", map[string]any{"selector": selector, "text": text})
		if got := textOf(t, call, selector); got != text {
			t.Errorf("%s: want %q, got %q", selector, text, got)
		}
	}
	r := call.Run(t, "type", map[string]any{"selector": "#short", "text": "abcdef"})
	if len(r.Content) != 2 || !strings.HasSuffix(r.Content[1].Text, ": abc") {
		t.Errorf("want to hear that the field shortened the text, got %+v", r.Content)
	}
	call.Run(t, "type", map[string]any{"selector": "#text", "text": ""})
	if got := textOf(t, call, "#text"); got != "" {
		t.Errorf("want an empty field, got %q", got)
	}
}

func testTypeRefuses(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	for selector, problem := range map[string]string{
		"#missing": "Tool execution failed: element not found",
		"#heading": "does not take text",
		"#send":    "does not take text",
		"#locked":  "read-only",
	} {
		call.Fail(t, -32603, problem, "type", map[string]any{"selector": selector, "text": "x"})
	}
}

func testClick(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	call.Run(t, "click", map[string]any{"selector": "#count"})
	const want = "count:pointerdown count:mousedown count:mouseup count:click"
	if got := strings.TrimSpace(textOf(t, call, "#events")); got != want {
		t.Errorf("want the events of a click, got %q", got)
	}
	call.Fail(t, -32603, "Tool execution failed: element not found", "click", map[string]any{"selector": "#missing"})
	call.Fail(t, -32603, "disabled", "click", map[string]any{"selector": "#off"})
	call.Fail(t, -32603, "not visible", "click", map[string]any{"selector": "#hidden"})
	call.Run(t, "click", map[string]any{"selector": "#link"})
	testkit.Eventually(t, patience, func() bool {
		r, err := call.Try(t, "get_text", map[string]any{"selector": "#where"})
		return err == nil && strings.Contains(string(r), "The next page")
	}, "the link is followed")
}

func testGetText(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	page := call.Run(t, "get_text", nil).Content[0].Text
	if !strings.Contains(page, "A form") || strings.Contains(page, "hidden") {
		t.Errorf("want the visible text of the page, got %q", page)
	}
	if got := textOf(t, call, "#pick"); got != "two" {
		t.Errorf("want the chosen option, got %q", got)
	}
	call.Fail(t, -32603, "password", "get_text", map[string]any{"selector": "#secret"})
	call.Fail(t, -32603, "element not found", "get_text", map[string]any{"selector": "#missing"})
}

var (
	red  = color.RGBA{R: 255, A: 255}
	blue = color.RGBA{B: 255, A: 255}
)

// sameColor allows for what color management does to a pure color.
func sameColor(img image.Image, x, y int, want color.RGBA) bool {
	near := func(a, b uint32) bool { return max(a, b)-min(a, b) < 0x1000 }
	r, g, b, _ := img.At(x, y).RGBA()
	wr, wg, wb, _ := want.RGBA()
	return near(r, wr) && near(g, wg) && near(b, wb)
}

func testScreenshot(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/colors.html")
	_, img := call.Picture(t, nil)
	size := img.Bounds().Size()
	if size.X < 1000 || size.X > 1280 || size.Y < 400 || size.Y > 800 {
		t.Errorf("want about the 1280 x 800 of the window, got %v", size)
	}
	if !sameColor(img, size.X/2, size.Y/2, red) {
		t.Errorf("want red, got %v", img.At(size.X/2, size.Y/2))
	}
}

// testFullPage takes several: the bar that Chromium slides in for a debugger disturbs the first.
func testFullPage(t *testing.T, call tooltest.Caller, site *Site) {
	for range 3 {
		goTo(t, call, site, "/colors.html")
		_, img := call.Picture(t, map[string]any{"full_page": true})
		wantWholePage(t, img)
		goTo(t, call, site, "/form.html")
	}
}

// wantWholePage checks a picture of all of colors.html.
func wantWholePage(t *testing.T, img image.Image) {
	t.Helper()
	size := img.Bounds().Size()
	if size.Y != 3000 {
		t.Fatalf("want the page's height of 3000, got %v", size)
	}
	if !sameColor(img, size.X/2, 1400, red) || !sameColor(img, size.X/2, 1600, blue) || !sameColor(img, size.X/2, 2900, blue) {
		t.Errorf("want red above blue, got %v above %v", img.At(size.X/2, 1400), img.At(size.X/2, 1600))
	}
}

func testArguments(t *testing.T, call tooltest.Caller, site *Site) {
	goTo(t, call, site, "/form.html")
	call.Fail(t, -32602, "selector", "click", nil)
	call.Fail(t, -32602, "selector", "click", map[string]any{"selector": "###"})
	call.Fail(t, -32602, "text", "type", map[string]any{"selector": "#text"})
	call.Fail(t, -32602, "tabId", "click", map[string]any{"selector": "#count", "tabId": "1"})
	call.Fail(t, -32602, "tab_id", "click", map[string]any{"selector": "#count", "tab_id": 1})
	call.Fail(t, -32602, "full_page", "screenshot", map[string]any{"full_page": "yes"})
	call.Fail(t, -32603, "there is no tab 424242", "click", map[string]any{"selector": "#count", "tabId": 424242})
}
