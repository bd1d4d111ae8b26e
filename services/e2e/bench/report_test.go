package main

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rounds makes rounds whose p50 are the given ones in µs; everything else follows.
func rounds(p50s ...int) []figures {
	var all []figures
	for _, p := range p50s {
		d := time.Duration(p) * time.Microsecond
		all = append(all, figures{P50: d, P99: 3 * d, PerSecond: 1e6 / float64(p), CPUPerCall: d / 2, Parts: [3]time.Duration{d / 4, d / 8, d / 8}, Calls: 1000})
	}
	return all
}

// columnOf makes a column of what each way of its group did.
func columnOf(p point, of ...[]figures) column {
	c := column{point: p}
	for i, r := range of {
		c.Series = append(c.Series, series{Way: groupOf(p.Group).ways[i], Rounds: r, Overall: overall(r, []time.Duration{r[0].P50, r[0].P99})})
	}
	return c
}

// agentsOf makes figures of agents, from the p50 of each way in µs.
func agentsOf(p50s ...int) *agentReport {
	r := &agentReport{Streams: &streamReport{Count: 1000, Words: 100, Pace: 50 * time.Millisecond}, Waiting: 2000, Streaming: 1000}
	column := agentColumn{Case: "run of 20 words"}
	names := []string{wayBare, waySQLite, wayPostgres}
	for i, p := range p50s {
		d := time.Duration(p) * time.Microsecond
		f := agentFigures{P50: d, P99: 3 * d, CPU: d / 2, Samples: 100}
		s := agentSeries{Way: names[i], Rounds: []agentFigures{f, f}, Overall: f}
		column.Series = append(column.Series, s)
		r.First = append(r.First, s)
		r.Streams.Series = append(r.Streams.Series, streamSeries{Way: names[i], Rounds: []streamFigures{{
			Tokens: 2e7 / float64(p), P50: 50 * d, P99: 90 * d, PerPiece: 1, First: 60 * d, CPU: d / 20, ModelCPU: d / 40,
		}}})
		if i > 0 {
			r.Memory = append(r.Memory, agentMemory{Way: names[i], Waiting: memory{900, 300, 0}, Streaming: memory{60000, 35000, 33000}})
		}
	}
	r.Loops = append(r.Loops, column)
	r.First[0].Way, r.Streams.Series[0].Way = wayDirect, wayDirect
	r.Memory[1].Waiting.RSS = 70_000
	return r
}

func TestRatioIsTheMedianOfPairs(t *testing.T) {
	t.Parallel()
	// The machine is three times slower in the second round: the pairs do not notice, medians of each way would.
	c := columnOf(at(groupUnary, smallResult, 64), rounds(100, 300, 100), rounds(50, 150, 90))
	if got := c.ratio(wayUnary, wayRelay, figureP50.of); got != 0.5 {
		t.Errorf("ratio %v, want 0.5", got)
	}
	if got := c.ratio(wayUnary, wayRelay, perSecond); got != 2 {
		t.Errorf("ratio %v, want 2", got)
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	id := func(v float64) float64 { return v }
	for want, values := range map[float64][]float64{1: {1}, 1.5: {2, 1}, 2: {3, 1, 2}, 2.5: {4, 1, 3, 2}} {
		if got := median(values, id); got != want {
			t.Errorf("median of %v is %v", values, got)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	most, least := atMost(0.95), atLeast(1.1)
	if !most.met(0.95) || most.met(0.96) || !least.met(1.1) || least.met(1.09) {
		t.Error("a bound is on the wrong side")
	}
}

func TestReportIsATable(t *testing.T) {
	t.Parallel()
	r := report{Go: "go1.26", CPUs: 2, Duration: 200 * time.Second}
	r.Columns = []column{
		columnOf(at(groupStreams, smallResult, 1), rounds(110, 110), rounds(100, 100), rounds(120, 120), rounds(30, 30)),
		columnOf(at(groupStreams, largeResult, 64), rounds(800, 800), rounds(900, 900), rounds(500, 500), rounds(400, 400)),
		columnOf(at(groupUnary, smallResult, 64), rounds(100, 100), rounds(98, 98)),
		columnOf(at(groupMCP, smallResult, 1), rounds(100, 100), rounds(120, 120), rounds(80, 80), rounds(60, 60)),
		columnOf(point{groupNodes, smallResult, 64, 100, 1}, rounds(100, 100), rounds(98, 98), rounds(70, 70)),
		columnOf(point{groupNodes, smallResult, 64, 10_000, 1}, rounds(120, 120), rounds(130, 130), rounds(75, 75)),
	}
	r.MCP = &mcpReport{
		List: quantiles{P50: time.Millisecond}, ListCPU: map[string]time.Duration{roleGateway: 140 * time.Microsecond, roleRegistry: 20 * time.Microsecond},
		Streams: 10_000, Quiet: memory{18000, 6000, 4000}, Collected: memory{21000, 5000, 4000},
		Changes: quantiles{P50: 5 * time.Millisecond, P99: 20 * time.Millisecond},
	}
	r.Idle = &idle{
		Nodes: 10_000, Connected: 2 * time.Second, Returned: 5 * time.Second, Retries: 3,
		Quiet: memory{14000, 6000, 4000}, Collected: memory{12000, 5000, 4000},
		CPU: map[string]time.Duration{"nats": time.Second, "gateway": 2 * time.Second},
	}
	r.Agents = agentsOf(1000, 1250, 1400)
	var out strings.Builder
	if err := r.write(&out); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/report.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestEveryBarHasItsPlace(t *testing.T) {
	t.Parallel()
	for at := range bars {
		checkPlace(t, at)
	}
	for at := range growths {
		checkPlace(t, at)
	}
}

// checkPlace looks for a cell in the tables that a whole run has.
func checkPlace(t *testing.T, at cell) {
	t.Helper()
	way, base, _ := strings.Cut(at.row, " / ")
	known := false
	for _, p := range allPoints() {
		known = known || p.Group == at.group && p.String() == at.column
	}
	for _, f := range allFigures {
		if f.name == at.figure && known && len(groupOf(at.group).bases(way)) > 0 && (base == "" || groupOf(at.group).bases(way)[1] == base) {
			return
		}
	}
	t.Errorf("no table has %+v", at)
}
