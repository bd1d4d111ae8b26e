//go:build conformance

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// TestSuite needs NODE and SUITE: the program and its script.
func TestSuite(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	device(t, c.Gateways[0])
	a, b := c.Gateways[0], c.Gateways[1]
	// The suite itself can name no user.
	targets := map[string]string{
		"pod A": cluster.Balancer(t, "suite", a), "pod B": cluster.Balancer(t, "suite", b), "balancer": cluster.Balancer(t, "suite", a, b),
	}
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, target := range slices.Sorted(maps.Keys(targets)) {
			t.Run(version+" "+target, func(t *testing.T) { run(t, version, targets[target]) })
		}
	}
}

// device connects a node which has the suite's tools.
func device(t *testing.T, g *cluster.Gateway) {
	names, _ := json.Marshal(slices.Sorted(maps.Keys(tools)))
	node := g.Extension(t, "suite", "fixture")
	node.Register(`"node_name":"Fixture","node_type":"extension","max_concurrent_tasks":20,"available_tools":` + string(names) + `,"tools":[` + schema + `]`)
	node.Serve(func(call cluster.ToolCall) string {
		if call.Params.Name == "test_tool_with_progress" {
			for i := range 3 {
				progress := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%q,"progress":%d,"total":100}}`, call.ID, i*50)
				_ = node.TrySend(websocket.MessageText, []byte(progress))
			}
		}
		return tools[call.Params.Name]
	})
}

// run runs the suite's scenarios of one version, and fails for each check that fails without a reason in inapplicable.
func run(t *testing.T, version, addr string) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out := t.TempDir()
	cmd := exec.CommandContext(ctx, os.Getenv("NODE"), os.Getenv("SUITE"), "server", "--url", "http://"+addr+"/mcp",
		"--suite", "all", "--spec-version", version, "-o", out, "--timeout", "20000")
	log, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !asExit(err, &exit) {
		t.Fatalf("%v\n%s", err, log)
	}
	results, _ := filepath.Glob(out + "/*/checks.json")
	if len(results) == 0 {
		t.Fatalf("no scenario was run\n%s", log)
	}
	passed, without := 0, 0
	for _, path := range results {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(raw, &checks); err != nil {
			t.Fatal(err)
		}
		scenario := scenarioOf(filepath.Base(filepath.Dir(path)))
		failed, unexcused := false, false
		for _, c := range checks {
			if c.Status != "FAILURE" {
				continue
			}
			failed = true
			if inapplicable[scenario] == "" && inapplicable[scenario+"/"+c.ID] == "" {
				t.Errorf("%s: %s: %s", scenario, c.ID, c.ErrorMessage)
				unexcused = true
			}
		}
		switch {
		case !failed:
			passed++
		case !unexcused:
			without++
			t.Logf("%s does not apply, all or in part: %s", scenario, inapplicable[scenario])
		}
	}
	t.Logf("of %d scenarios %d pass and %d do not apply", len(results), passed, without)
}
