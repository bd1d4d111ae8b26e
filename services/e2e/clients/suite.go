package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/browser"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
)

// wantText checks what both samples answer to a call that succeeds.
func wantText(t testing.TB, r tooltest.Result, text string) {
	t.Helper()
	if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text != text {
		t.Errorf("want the text %q, got %+v", text, r)
	}
}

// TestJavaScript calls the tools of a connected JavaScript sample, whose page is the tab.
func TestJavaScript(t *testing.T, call tooltest.Caller, page *browser.Tab) {
	const done = "Tool executed successfully"
	wantText(t, call.Run(t, "click", map[string]any{"selector": "#go"}), done)
	page.WaitFor(t, `document.getElementById("go").textContent === "clicked"`)
	wantText(t, call.Run(t, "type", map[string]any{"selector": "#name", "text": "Grüße"}), done)
	page.WaitFor(t, `document.getElementById("name").value === "Grüße"`)
	call.Fail(t, -32603, "Tool execution failed: element not found", "click", map[string]any{"selector": "#missing"})
}

// TestPython calls the tools of a connected Python sample.
func TestPython(t *testing.T, call tooltest.Caller) {
	path := filepath.Join(t.TempDir(), "note.txt")
	const note = "Grüße, \"world\"\n世界 😀"
	wantText(t, call.Run(t, "write_file", map[string]any{"path": path, "content": note}), "19")
	if got, err := os.ReadFile(path); err != nil || string(got) != note {
		t.Errorf("want the file to hold %q, got %q, %v", note, got, err)
	}
	wantText(t, call.Run(t, "read_file", map[string]any{"path": path}), note)
	call.Fail(t, -32603, "No such file", "read_file", map[string]any{"path": path + ".missing"})

	large := strings.Repeat("0123456789abcdef", 4096)
	if err := os.WriteFile(path, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	wantText(t, call.Run(t, "read_file", map[string]any{"path": path}), large)
}
