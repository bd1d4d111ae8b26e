package paper

import (
	"flag"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables into docs/scaling.md")

const page = "../../../../docs/scaling.md"

// place is where a table stands on the page: between two comments with its name.
var place = regexp.MustCompile(`(?s)(<!-- paper: (\w+) -->\n).*?(<!-- /paper -->)`)

// The page has the tables that follow from the figures.
func TestPageHasTheTables(t *testing.T) {
	t.Parallel()
	f, err := load(measured)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tables, found := f.tables(), 0
	want := place.ReplaceAllStringFunc(string(raw), func(old string) string {
		m := place.FindStringSubmatch(old)
		table, ok := tables[m[2]]
		if !ok {
			t.Errorf("the page asks for a table %q", m[2])
		}
		found++
		return m[1] + table + m[3]
	})
	if found != len(tables) {
		t.Errorf("the page has %d of %d tables", found, len(tables))
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(raw) {
		t.Errorf("%s does not have the tables of the figures: go test ./services/e2e/bench/paper -update", page)
	}
}

// The arithmetic, done by hand with round figures.
func TestArithmetic(t *testing.T) {
	t.Parallel()
	f, err := load([]byte(`{"Scale": {
		"Nodes": 1000, "Rate": 10,
		"Quiet": {"gateways": {"RSS": 10240}, "NATS": {"RSS": 4096}}, "Redis": {"Used": 2048},
		"Idle": {"Seconds": 60, "Beats": 40, "CPU": {"simulated nodes": 0.3, "gateways": 0.01, "registry": 0.001, "Redis": 0.002, "NATS": 0},
			"Commands": {"evalsha": 50, "zadd": 150}, "RedisIn": 900, "RedisOut": 100},
		"Gateways": 7, "Lost": {"Nodes": 100, "Returned": 2e9, "Calls": 600, "Failed": {"NODE_NOT_CONNECTED": 3}}, "Latency": {"Samples": 60000}, "Made": {"Calls": 60000, "Failed": {"NODE_BUSY": 2}}, "Calls": {"Seconds": 600, "CPU": {"simulated nodes": 0.4, "gateways": 0.02, "registry": 0.0005, "Redis": 0.002, "NATS": 0.001}},
		"Coming": {"Seconds": 2, "CPU": {"gateways": 0.1, "registry": 0.02}}, "Going": {"Seconds": 1, "CPU": {"gateways": 0.1}},
		"Route": {"Came": 50, "Went": 40, "ThereCPU": 5000, "There": {"RSS": 1024}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[float64]float64{
		f.beats: 0.04, f.scripts: 0.05, f.commands: 0.2, f.network: 1, f.idle[gateways]: 1e-5, f.call[gateways]: 1e-3,
		f.call[registry]: 0, f.comes[gateways]: 2e-4, f.goes[gateways]: 1e-4, f.remoteCPU: 5e-6,
	} {
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	tables := f.tables()
	for table, lines := range map[string][]string{
		// 20,000 × 10 KiB; 20,000 × 10 µs; + 200 calls a second × 1 ms.
		"gateways": {"| gateways | nodes / 20,000 | 5 | 50 | 500 |", " | 195 MiB | 195 MiB | 195 MiB |", " | 0.20 | 0.20 | 0.20 |", " | 0.40 | 0.40 | 0.40 |"},
		"presence": {" | 4,000 | 40,000 | 400,000 |", "| CPUs / 0.5, up | 1 | 4 | 40 |", "| nodes / 60 | 1,670 | 16,700 | 167,000 |", "+ 1 | 2 | 3 | 21 |"},
		// A third of the nodes × 4 KiB, two thirds × 2 × 1 KiB: 2.67 KiB each.
		"nats":  {" | 200,000 | 2,000,000 | 20,000,000 |", " | 260 MiB | 2.5 GiB | 21 GiB |", " | 0.7 s | 6.7 s | 89 s |"},
		"churn": {" | 14 | 139 | 1,390 |", " | 42 | 417 | 4,170 |"},
		// 5, 50, 500 gateways × 30 s; 1, 2.5, 25 of them at once; 200,000, 2 M, 20 M subscriptions × 2 × 5 µs.
		"storms":  {" | 2.5 min | 25 min | 4.2 h |", " | 2.5 min | 10 min | 10 min |", " | 1,000 | 2,500 | 25,000 |", " | 1,000 | 1,000 | 400 |", " | 2.0 s | 20 s | 3.3 min |"},
		"runs":    {" | 500 | 5,000 | 50,000 |"},
		"machine": {"| gateways | 7 | 9.8 MiB | 0.01 | 0.02 |", "| simulated nodes | 7 |  | 0.30 | 0.40 |", "| calls, in 10 min | 60000 |", "| of them `NODE_BUSY` | 2 |"},
		"loss":    {"| one of 7 gateways is killed |", "| 100, 2.0 s |", "| 600 |", "| of them `NODE_NOT_CONNECTED` | 3 |"},
	} {
		for _, line := range lines {
			if !strings.Contains(tables[table], line) {
				t.Errorf("%q is missing in %s:\n%s", line, table, tables[table])
			}
		}
	}
}

func TestFiguresOfAnotherRun(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"[", `{}`, `{"Scale": {"Nodes": 10, "Idle": {"Beats": 1}}}`} {
		if _, err := load([]byte(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		}
	}
}

func TestNumbersAreReadable(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		number(0): "0", number(7): "7", number(1.5): "1.5", number(123456): "123,000", number(4e7): "40,000,000", number(999.6): "1,000",
		size(12): "12 B", size(1536): "1.5 KiB", size(5 << 30): "5.0 GiB", duration(9): "9.0 s", duration(600): "10 min", duration(7200): "2.0 h",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
