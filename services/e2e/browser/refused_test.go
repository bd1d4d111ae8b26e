package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// attacks try what a page or extension can try against a gateway on its visitor's machine, and report what came of it.
const attacks = `
const gateway = "%s", command = %q, report = "%s";
const body = JSON.stringify({name: "x", transport_type: "stdio", command: "/bin/sh", args: ["-c", command]});
const post = (type, mode) => fetch("http://" + gateway + "/api/tools/mcp/validate?user_id=u",
  {method: "POST", mode, body: type ? body : new Blob([body]), headers: type ? {"Content-Type": type} : {}});
const tries = {
  "read": () => fetch("http://" + gateway + "/api/node/devices?user_id=u"),
  "read with a header": () => fetch("http://" + gateway + "/api/node/devices", {headers: {"X-User-Id": "u"}}),
  "text/plain": () => post("text/plain", "cors"),
  "text/plain, unseen": () => post("text/plain", "no-cors"),
  "no type, unseen": () => post("", "no-cors"),
  "JSON": () => post("application/json", "cors"),
  "write a file": () => fetch("http://" + gateway + "/api/workspace/files/a?user_id=u", {method: "PUT", body: "x"}),
  "drain": () => fetch("http://%s/drain", {method: "POST", mode: "no-cors"}),
  "metrics": () => fetch("http://%s/metrics"),
  "socket": () => new Promise((resolve) => {
    const s = new WebSocket("ws://" + gateway + "/ws/extension?client_id=user_u&node_id=evil");
    s.onopen = () => resolve({status: 101});
    s.onerror = () => resolve({status: 0});
  }),
};
(async () => {
  const got = {};
  for (const [name, attempt] of Object.entries(tries)) {
    try {
      const answer = await attempt();
      got[name] = answer.status;
    } catch (e) {
      got[name] = -1;
    }
  }
  await fetch(report, {method: "POST", mode: "no-cors", body: JSON.stringify(got)});
})();
`

// A page of another local port, and an extension that may access every site, attack a gateway in a real browser. The
// gateway can run programs, and neither gets it to.
func TestOtherPagesAndExtensionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"extension", "page"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{
				Gateways: 1, Orchestrators: 1, Model: modeltest.New(t).URL(),
				Orchestrator: func(_ int, c *orchestrator.Config) { c.MCPStdio = true },
			})
			g := c.Gateways[0]
			file := filepath.Join(t.TempDir(), "ran")
			reports := make(chan map[string]int, 1)
			var script string
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/report":
					var got map[string]int
					if json.NewDecoder(r.Body).Decode(&got) == nil {
						reports <- got
					}
				case "/":
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, "<!doctype html><script>%s</script>", script)
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(site.Close)
			script = fmt.Sprintf(attacks, g.HTTP, "touch "+file, site.URL+"/report", g.Admin, g.Admin)
			if who == "page" {
				StartPlain(t).Open(t, site.URL+"/")
			} else {
				launch(t, hostileExtension(t, script))
			}
			select {
			case got := <-reports:
				for name, status := range got {
					// 0 is an answer that the browser keeps to itself, -1 none at all.
					if status != http.StatusForbidden && status != 0 && status != -1 {
						t.Errorf("%s: %d", name, status)
					}
				}
				if len(got) != strings.Count(attacks, "\": () =>") {
					t.Errorf("only %v was tried", got)
				}
			case <-time.After(patience):
				t.Fatal("nothing was tried")
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("a program was run")
			}
			if s := g.DrainStatus(t); s.State != "serving" {
				t.Errorf("the gateway is %s", s.State)
			}
			if r := g.Get(t, "/api/node/devices", "u"); r.Body["total"] != float64(0) {
				t.Errorf("a node came in: %s", r.Raw)
			}
		})
	}
}

// hostileExtension writes an extension with every permission that a user is asked for, whose worker runs a script.
func hostileExtension(t *testing.T, script string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version": 3, "name": "Pretty tabs", "version": "1.0", "host_permissions": ["<all_urls>"], "background": {"service_worker": "worker.js"}}`,
		"worker.js":     script,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
