package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// A bench of its own cluster leaves its reports where it was told.
func TestBench(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "out")
	p := start(t, nil, "bench", "--nodes", "10", "--callers", "4", "--runs", "1", "--duration", "1s", "--seed", "7", "--out", dir)
	if code := p.wait(); code != 0 || !p.has("PASSED: the ledger reconciles", "an embedded cluster of 2 gateways: 2 users, 10 nodes", "--seed 7", "Latency over time") {
		t.Fatalf("%d %s%s", code, &p.out, &p.err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.txt"))
	if err != nil || string(text) != p.out.String() {
		t.Errorf("%v: %s", err, text)
	}
	var report struct {
		Passed bool
		Seed   int
	}
	raw, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil || json.Unmarshal(raw, &report) != nil || !report.Passed || report.Seed != 7 {
		t.Errorf("%v: %s", err, raw)
	}
	picture, err := os.ReadFile(filepath.Join(dir, "latency.svg"))
	if err != nil || xml.Unmarshal(picture, new(struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	})) != nil {
		t.Errorf("%v: %s", err, picture)
	}
}

// With users' tokens, on a cluster of its own that asks for them; Ctrl-C ends it with a report.
func TestBenchWithTokensIsStopped(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, "bench", "--nodes", "5", "--callers", "2", "--gateways", "1", "--duration", "1h", "--auth-secret-file", key)
	testkit.Eventually(t, 30*time.Second, func() bool { return strings.Contains(p.err.String(), "/s  p50") }, "it says how it goes")
	p.stop()
	if code := p.wait(); code != 0 || !p.has("PASSED", "stopped early: ", "an embedded cluster of one gateway:") {
		t.Errorf("%d %s%s", code, &p.out, &p.err)
	}
}

// What does not pass exits with 1, what was asked wrongly with 2.
func TestBenchExits(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "faults.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken := file("- {name: broken, do: 'echo no; exit 3'}")
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"--nodes 5 --callers 1 --duration 1s --calm 0s --faults " + broken: {1, "the bench did not pass"},
		"--nodes 100 --users 1": {2, "100 nodes need at least 10 users"},
		"--payload 20MiB":       {2, "fit into a frame"},
		"--think fast":          {2, "is not a range of durations"},
		"--faults " + file("- {name: x, doo: 'true'}"): {2, `faults.yaml:1: key "doo" is not known`},
		"--faults /nowhere.yaml":                       {2, "no such file"},
		"--server 127.0.0.1:1":                         {2, "must be a URL"},
	} {
		p := start(t, nil, append([]string{"bench"}, strings.Fields(line)...)...)
		if code := p.wait(); code != want.code || !strings.Contains(p.err.String(), want.says) {
			t.Errorf("%s: %d %s%s", line, code, &p.out, &p.err)
		}
	}
}
