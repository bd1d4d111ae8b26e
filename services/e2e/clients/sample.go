package clients

import (
	"embed"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/browser"
)

// The identities that the samples connect with.
const (
	User          = "abc123"
	ExtensionNode = "ext_001"
	DesktopNode   = "desk_001"
)

// seedHost is the only text of the samples that is replaced.
const seedHost = "wss://zeus-api.agentspro.cn"

//go:embed testdata
var testdata embed.FS

// read returns a file of testdata.
func read(t testing.TB, name string) string {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sample returns a sample client that connects to the gateway instead of the sample's own host.
func sample(t testing.TB, name, gateway string) string {
	t.Helper()
	text := read(t, name)
	if n := strings.Count(text, seedHost); n != 1 {
		t.Fatalf("%s names the sample's own host %d times", name, n)
	}
	return strings.Replace(text, seedHost, gateway, 1)
}

// StartJavaScript opens a page with the JavaScript sample in a Chromium of its own. The gateway is ws://host:port. Both
// end with the test. The page has the field #name and the button #go, which reads "clicked" once it was.
func StartJavaScript(t testing.TB, gateway string) *browser.Tab {
	t.Helper()
	files := map[string]string{
		"/":             read(t, "page.html"),
		"/prelude.js":   read(t, "prelude.js"),
		"/extension.js": sample(t, "extension.js", gateway),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return browser.StartPlain(t).Open(t, server.URL+"/")
}

// StartPython runs the Python sample until the test ends. The gateway is ws://host:port.
func StartPython(t testing.TB, gateway string) {
	t.Helper()
	python := findPython(t)
	script := filepath.Join(t.TempDir(), "desktop.py")
	text := read(t, "prelude.py") + sample(t, "desktop.py", gateway) + "\nasyncio.run(connect_desktop())\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	command := exec.CommandContext(t.Context(), python, script)
	command.Stdout, command.Stderr = &output, &output
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 5 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := command.Wait()
		if t.Failed() {
			t.Logf("the Python client ended with %v and said:\n%s", err, output.String())
		}
	})
}

// findPython returns a python3 that has the websockets package: Debian installs it for its own python3 only, which need
// not be the first in the path.
func findPython(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.CommandContext(t.Context(), path, "-c", "import websockets").Run() == nil {
			return path
		}
	}
	if os.Getenv("TEST_REQUIRE_REAL") == "1" {
		t.Fatal("there is no python3 with websockets on this machine, and TEST_REQUIRE_REAL=1")
	}
	t.Skip("there is no python3 with websockets on this machine")
	return ""
}
