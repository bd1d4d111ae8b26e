package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/testkit/pgserver"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

func TestMain(m *testing.M) {
	if role, config, ok := proc.Role(); ok { // a child of the test below
		exit(play(role, config))
	}
	goleak.VerifyTestMain(m)
}

// least is the smallest benchmark that touches everything.
func least(t *testing.T) options {
	return options{
		Points: []point{
			at(groupStreams, smallResult, 1), at(groupStreams, largeResult, 64), at(groupUnary, smallResult, 64),
			at(groupREST, smallResult, 2), at(groupREST, largeResult, 64), at(groupUnnamed, smallResult, 64),
			at(groupMCP, smallResult, 2), at(groupMCP, largeResult, 4),
			{groupSpread, smallResult, 512, maxNodes, 1},
			{groupNodes, smallResult, 4, 10, 1}, {groupNodes, smallResult, 4, 30, 1},
			{groupPods, smallResult, 64, nodeCount, 1}, {groupPods, smallResult, 64, nodeCount, 2},
		},
		Rounds: 2, Segment: 50 * time.Millisecond, Warmup: 10 * time.Millisecond, MaxCalls: 2000,
		MCP:       mcpOptions{Lists: 50 * time.Millisecond, Streams: 20, Settle: 10 * time.Millisecond, Changes: 200 * time.Millisecond},
		IdleNodes: 30, Settle: 10 * time.Millisecond,
		Scale: scaleOptions{
			Nodes: 40, Gateways: 2, shape: shape{1, 1}, Beat: 200 * time.Millisecond, Rate: 100, Visitors: 2,
			Idle: 2 * time.Second, Calls: 2 * time.Second, Visits: 10 * time.Millisecond, Loss: time.Second, // gateways report every second
		},
		Agents: agentOptions{
			Rounds: 2, Segment: 30 * time.Millisecond, FirstTokens: 2,
			Streams: 20, Words: 5, StreamRounds: 1, StreamPace: 2 * time.Millisecond, StreamSlow: 50 * time.Millisecond, Waiting: 10,
		},
		JSON: filepath.Join(t.TempDir(), "figures.json"), Profiles: t.TempDir(), ProfileFor: 20 * time.Millisecond,
		Level: slog.LevelError,
	}
}

func TestBenchmarkRunsWhole(t *testing.T) {
	t.Parallel()
	o := least(t)
	var out strings.Builder
	if err := run(t.Context(), o, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"200 B, c=1", "200 KiB, c=64", "across pods: CPU per call", "caller's pod: p50",
		"CallTool: p50", "REST: p50", "/mcp: p50", "/mcp / SDK's server, empty tool: CPU per call", "tools/list of 50 tools", "20 streams of changes", "REST, no node named: CPU per call", "512 nodes, c=512", "more nodes / 10 nodes", "entry pods: 2", "30 idle nodes", "registered within",
		"SQLite: p50", "step, tool of a node", "time to the first token", "20 streams of 5 tokens", "10 wait for a person", "40 idle nodes at 2 gateways", "80 subscriptions"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q is missing in\n%s", text, out.String())
		}
	}
	raw, err := os.ReadFile(o.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Columns) != len(o.Points) || r.Idle == nil || r.Idle.Nodes != o.IdleNodes {
		t.Fatalf("%s", raw)
	}
	if m := r.Idle.Collected; r.Idle.Returned <= 0 || runtime.GOOS == "linux" && m.RSS <= 0 {
		t.Errorf("%+v", r.Idle)
	}
	profiled := 0
	for _, c := range r.Columns {
		for _, s := range c.Series {
			checkSeries(t, c.point, s, o)
			profiled += len(parts)
			switch s.Way {
			case wayLocal: // entry pod and holder are one
				profiled--
			case waySDK: // it is all alone
				profiled -= len(parts) - 1
			}
		}
	}
	checkAgents(t, r.Agents, o.Agents)
	checkMCP(t, r.MCP, o.MCP)
	checkScale(t, r.Scale, o.Scale)
	profiles, err := filepath.Glob(filepath.Join(o.Profiles, "*.pprof"))
	ours := len(r.Agents.Memory)
	atOnce := 0
	for _, c := range agentCases() {
		if c.Pace == 0 {
			atOnce++
		}
	}
	agents := atOnce*(1+ours) + 4*ours // loops; first token, at two pods; streams; heap
	const scaled = 2*4 + 1             // idle and with calls, four processes; heap
	const ofMCP = 3 + 1                // lists, three processes; heap
	if want := profiled + ofMCP + len(r.Idle.CPU) + 1 + scaled + agents; err != nil || len(profiles) != want {
		t.Errorf("%d profiles, want %d; %v", len(profiles), want, err)
	}
}

// checkSeries looks for figures that cannot be.
func checkSeries(t *testing.T, p point, s series, o options) {
	t.Helper()
	if len(s.Rounds) != o.Rounds {
		t.Errorf("%v, %s: %d rounds", p, s.Way, len(s.Rounds))
	}
	calls := 0
	for _, f := range s.Rounds {
		calls += f.Calls
		var cpu time.Duration
		for _, part := range f.Parts {
			cpu += part
		}
		if f.Calls == 0 || f.Calls > o.MaxCalls || f.P50 <= 0 || f.P99 < f.P50 || f.PerSecond <= 0 || cpu != f.CPUPerCall {
			t.Errorf("%v, %s: %+v", p, s.Way, f)
		}
	}
	if s.Overall.Calls != calls || s.Overall.CPUPerCall <= 0 {
		t.Errorf("%v, %s: %d calls in the rounds, overall %+v", p, s.Way, calls, s.Overall)
	}
	if s.Way != wayLocal && s.Overall.Parts[0] <= 0 {
		t.Errorf("%v, %s: the entry pod did nothing: %+v", p, s.Way, s.Overall)
	}
}

// checkMCP looks for figures that cannot be.
func checkMCP(t *testing.T, m *mcpReport, o mcpOptions) {
	t.Helper()
	// Each change is heard on two streams.
	if m.Streams != o.Streams || m.List.Samples == 0 || m.ListCPU[roleGateway] <= 0 || m.Changes.Samples < 2 || m.Changes.Samples%2 != 0 || m.Changes.P50 <= 0 {
		t.Errorf("%+v", m)
	}
}

// checkAgents looks for figures that cannot be.
func checkAgents(t *testing.T, r *agentReport, o agentOptions) {
	t.Helper()
	ways := 2
	if pgserver.Installed() {
		ways++
	}
	all := append([]agentColumn{{Case: "first tokens", Series: r.First}}, r.Loops...)
	for _, c := range all {
		if len(c.Series) != ways {
			t.Errorf("%s: %d ways", c.Case, len(c.Series))
		}
		for _, s := range c.Series {
			if f := s.Overall; len(s.Rounds) != o.Rounds || f.Samples == 0 || f.P50 <= 0 || f.P99 < f.P50 {
				t.Errorf("%s, %s: %+v", c.Case, s.Way, s)
			}
		}
	}
	for i, s := range r.Streams.Series {
		for _, f := range s.Rounds {
			if f.Tokens <= 0 || f.PerPiece < 1 || f.First <= 0 || i > 0 && f.CPU <= 0 {
				t.Errorf("streams, %s: %+v", s.Way, f)
			}
		}
	}
}

// Presence is kept by two registries over a Redis Cluster, and one of three gateways dies.
func TestScaleOverACluster(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("a Redis Cluster needs redis-server")
	}
	o := least(t)
	o.Points, o.IdleNodes, o.Agents, o.MCP = nil, 0, agentOptions{}, mcpOptions{}
	o.Scale.set(60, 3, shape{Registries: 2, Shards: 3}, 0, 0)
	var out strings.Builder
	if err := run(t.Context(), o, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(o.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	checkScale(t, r.Scale, o.Scale)
	if l := r.Scale.Lost; l == nil || l.Nodes != 20 || l.Returned <= 0 || l.Calls != int(o.Scale.Rate*o.Scale.Loss.Seconds()) || len(l.Failed) > 2 {
		t.Errorf("%+v", l)
	}
	if !strings.Contains(out.String(), "one gateway dies under load") {
		t.Error(out.String())
	}
}

// checkScale looks for figures that cannot be.
func checkScale(t *testing.T, s *scale, o scaleOptions) {
	t.Helper()
	if s.Nodes != o.Nodes || s.Coming.CPU[partGateways] <= 0 || s.Going.NATS.Subscriptions >= s.Calls.NATS.Subscriptions || len(s.Lag) != len(steps) || s.Latency.Samples != int(o.Rate*o.Calls.Seconds()) {
		t.Errorf("%+v", s)
	}
	for _, w := range []stretch{s.Idle, s.Calls} {
		// Four gateways are there; nobody calls at first.
		if w.Seconds <= 0 || w.CPU[partGateways] <= 0 || w.RPCs <= 0 || w.NATS.Subscriptions < float64(subjectsPerNode*o.Nodes) {
			t.Errorf("%+v", w)
		}
		if s.Redis != nil && (w.scripts() <= 0 || w.commands() <= w.scripts() || w.CPU[partRedis] <= 0) {
			t.Errorf("Redis: %+v", w)
		}
	}
	if s.Calls.NATS.InMsgs < o.Rate { // a call and its answer are two
		t.Errorf("%v messages a second at %v calls", s.Calls.NATS.InMsgs, o.Rate)
	}
	for _, l := range s.Lag {
		if l.Watch.Samples < o.Visitors || l.List.Samples != l.Watch.Samples || l.Watch.P50 <= 0 || l.Watch.Max < l.Watch.P50 {
			t.Errorf("%+v", l)
		}
	}
	// RS+, the account, the subject, and the queue group of half of them.
	if i := s.Route; i.Subscriptions != subjectsPerNode*o.Nodes || i.Came < i.SubjectBytes || i.Went < i.SubjectBytes || i.Came > 2*i.SubjectBytes {
		t.Errorf("%+v", i)
	}
}

func TestTooManyNodesForTheSystem(t *testing.T) {
	t.Parallel()
	if err := checkLimits(10); err != nil {
		t.Error(err)
	}
	if err := checkLimits(1 << 40); err == nil || !strings.Contains(err.Error(), "ulimit") && !strings.Contains(err.Error(), "ip_local_port_range") {
		t.Errorf("not told what to raise: %v", err)
	}
}

func TestUnknownRole(t *testing.T) {
	t.Parallel()
	if err := play("nobody", []byte("{}")); err == nil {
		t.Error("no error")
	}
	if err := play(roleNATS, []byte("[")); err == nil {
		t.Error("no error for a malformed configuration")
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		points, idle int
		agents       bool
		scale        int
		streams      int
	}{
		"":                              {len(allPoints()), 10_000, true, 0, 10_000},
		"-smoke":                        {len(tastePoints()), 500, true, 400, 500},
		"-only=calls":                   {len(allPoints()), 0, false, 0, 0},
		"-only=unary":                   {4, 0, false, 0, 0},
		"-only=streams, 200 B, c=512":   {1, 0, false, 0, 0},
		"-only=nodes, 1000 nodes, c=64": {1, 0, false, 0, 0},
		"-only=idle":                    {0, 10_000, false, 0, 0},
		"-smoke -only=idle":             {0, 500, false, 0, 0},
		"-only=scale":                   {0, 0, false, 20_000, 0},
		"-smoke -only=scale":            {0, 0, false, 400, 0},
		"-nodes=31 -only=scale":         {0, 0, false, 30, 0},
		"-nodes=31 -gateways=3 -registries=2 -shards=3 -hold=1s -rate=9 -only=scale": {0, 0, false, 30, 0},
		"-only=agent":           {0, 0, true, 0, 0},
		"-only=agent streams":   {0, 0, true, 0, 0},
		"-only=mcp":             {3, 0, false, 0, 10_000},
		"-only=mcp, 200 B, c=1": {1, 0, false, 0, 0},
		"-only=mcp streams":     {0, 0, false, 0, 10_000},
	} {
		var split []string
		if args != "" {
			split = strings.SplitN(args, " ", 1+strings.Count(args, " -"))
		}
		o, err := parse(split, io.Discard)
		if err != nil || len(o.Points) != want.points || o.IdleNodes != want.idle || (o.Agents.Rounds > 0) != want.agents || o.Scale.Nodes != want.scale || o.MCP.Streams != want.streams {
			t.Errorf("%q: %v, %d points, %d and %d nodes, %d streams", args, err, len(o.Points), o.IdleNodes, o.Scale.Nodes, o.MCP.Streams)
		}
	}
	for _, args := range [][]string{{"-only=unary, 300 B, c=1"}, {"-only=agent tea"}, {"x"}, {"-what"}, {"-log-level=loud"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
