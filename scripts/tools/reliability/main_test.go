package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `{"passed":true,"took_seconds":61.4,"load":{"nodes":10,"callers":4,"rate":20,"runs":1},
"ledger":{"sent":120,"answered":117,"unknown":2,"unknown_executed":1,"not_delivered":1,"executed":118},
"steps":{"sent":6,"answered":6,"executed":6},
"calm":{"calls":{"ended":20,"answered":20,"latency":{"all":{"p99_seconds":0.004,"max_seconds":0.0123}}},"runs":{"ended":2,"steps":{"answered":4},"took":{"max_seconds":1.5}}},
"faults":[{"name":"a gateway killed","executed_twice":0,"answered_again_after_seconds":4.21,
"calls":{"ended":100,"answered":97,"not_delivered":1,"retried":7,"refused_attempts":{"DRAINING":1,"NODE_NOT_CONNECTED":9},
"given_up":{"NODE_BUSY":1},"unknowns":{"HOLDER_LOST":2},"latency":{"all":{"p99_seconds":5.1,"max_seconds":12}}},
"runs":{"ended":1,"resumed_streams":1,"steps":{"answered":1,"unknown":1},"took":{"max_seconds":6}}},
{"name":"Redis killed","lossless":true,"calls":{"ended":6}},
{"name":"every gateway restarted","lossless":true,"lossless_runs":true,"calls":{"ended":5,"answered":5}}]}`

func TestTablesTakeTheirPlaceInTheDocument(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "report.json"), filepath.Join(dir, "doc.md")
	write(t, from, sample)
	write(t, to, "# Head\n\n"+begin+"what was here before\n"+end+"\nTail\n")
	for range 2 { // the second time over the first
		if err := run(from, to); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, to)
	for _, want := range []string{
		"# Head\n\n" + begin,
		"61 s, 10 nodes, 4 callers with 20 calls/s in all, 1 runs of agents at once.\n",
		"| calls | 120 | 117 | 1 | 2 | 1 | 118 | 0 |\n| tool calls of runs | 6 | 6 |",
		"| (nothing) | 20 | 20 | – | – | 4 ms | 12 ms | at once | 0 |\n",
		"| a gateway killed | 100 | 97 | 7: `NODE_NOT_CONNECTED` 9, `DRAINING` 1; given up `NODE_BUSY` 1 | `HOLDER_LOST` 2 | 5.1 s | 12 s | 4.2 s | 0 |\n",
		"| every gateway restarted \\*\\* | 5 | 5 |",
		"| a gateway killed | 1 | 1 | 2 | 1 | 6.0 s | 0 |\n",
		"| Redis killed \\* | 6 |",
		end + "\nTail\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "what was here before") {
		t.Error("the tables before are still there")
	}
}

func TestWhatProvesNothingIsRefused(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "report.json"), filepath.Join(dir, "doc.md")
	doc := begin + end
	for name, c := range map[string]struct{ report, doc, says string }{
		"a run that failed":        {`{"passed":false}`, doc, "did not pass"},
		"no report":                {`[`, doc, "report.json"},
		"a document with no place": {sample, begin, "end: seen"},
	} {
		write(t, from, c.report)
		write(t, to, c.doc)
		if err := run(from, to); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if read(t, to) != c.doc {
			t.Errorf("%s: the document was changed", name)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
