package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

func (s *scale) write(w io.Writer) {
	tables := []load.Table{s.memoryTable(), s.cpuTable(), s.stormTable(), s.trafficTable(), s.commandTable(), s.lagTable(), s.Route.table()}
	if s.Lost != nil {
		tables = append(tables, s.Lost.table())
	}
	tables = append(tables, s.problemTable())
	for _, t := range tables {
		_ = t.Write(w, "")
		_, _ = fmt.Fprintln(w) // report.write has a last line, which reports what failed
	}
}

// problemTable is what did not go as it should.
func (s *scale) problemTable() load.Table {
	failed := append(s.Made.failures(), s.Beside.failures()...)
	t := load.Table{
		{"calls that failed", fmt.Sprintf("%d kinds%s", len(failed), mark(len(failed) == 0))},
		{"connections that ended by themselves", fmt.Sprintf("%d%s", s.Dropped, mark(s.Dropped == 0))},
	}
	t = append(t, failed...)
	for _, p := range s.Problems {
		t = append(t, []string{p, "!"})
	}
	return t
}

func (s *scale) memoryTable() load.Table {
	t := load.Table{{fmt.Sprintf("%d idle nodes at %d gateways, memory per node", s.Nodes, s.Gateways), "RSS", "after GC: RSS", "Go heap", "stacks"}}
	for _, part := range []string{partGateways, partRegistry, partNATS} {
		c := s.Collected[part]
		t = append(t, []string{part, kib(s.Quiet[part].RSS), kib(c.RSS), kib(c.Heap), kib(c.Stacks)})
	}
	if s.Redis != nil {
		t = append(t, []string{partRedis, kib(s.Redis.RSS), fmt.Sprintf("%s of data", kib(s.Redis.Used))})
	}
	return t
}

// perThousand is how much of one processor 1,000 nodes take, as per cent.
func (s *scale) perThousand(w stretch, part string) float64 {
	return w.CPU[part] * 100 / float64(s.Nodes) * 1000
}

func (s *scale) cpuTable() load.Table {
	t := load.Table{{"CPU per 1,000 nodes, % of one", "idle", fmt.Sprintf("at %.0f calls/s", s.Rate), "of it calls", "a call"}}
	for _, part := range scaleParts {
		idle, calls := s.perThousand(s.Idle, part), s.perThousand(s.Calls, part)
		perCall := time.Duration((s.Calls.CPU[part] - s.Idle.CPU[part]) / s.Rate * float64(time.Second))
		t = append(t, []string{part, percent(idle), percent(calls), percent(calls - idle), micros(perCall)})
	}
	return t
}

// stormTable is of all nodes coming as fast as they can, and of all going.
func (s *scale) stormTable() load.Table {
	t := load.Table{{"CPU per node", "that comes", "that goes"}}
	for _, part := range scaleParts {
		t = append(t, []string{part, micros(s.perMove(s.Coming, part)), micros(s.perMove(s.Going, part))})
	}
	return append(t, []string{"all of them", fmt.Sprintf("%.2f s", s.Coming.Seconds), fmt.Sprintf("%.2f s", s.Going.Seconds)})
}

// perMove is the processor time of one node's coming or going.
func (s *scale) perMove(w stretch, part string) time.Duration {
	return time.Duration(w.CPU[part] * w.Seconds / float64(s.Nodes) * float64(time.Second))
}

func (s *scale) trafficTable() load.Table {
	t := load.Table{{"a second", "idle", fmt.Sprintf("at %.0f calls/s", s.Rate)}}
	add := func(name string, of func(stretch) float64) {
		t = append(t, []string{name, fmt.Sprintf("%.1f", of(s.Idle)), fmt.Sprintf("%.1f", of(s.Calls))})
	}
	add("heartbeats of nodes at the registry", func(w stretch) float64 { return w.Beats })
	add("  in so many requests", func(w stretch) float64 { return w.BeatRPCs })
	add("requests to the registry", func(w stretch) float64 { return w.RPCs })
	add("scripts in Redis", stretch.scripts)
	add("commands in Redis, those of scripts included", stretch.commands)
	add("KiB to Redis", func(w stretch) float64 { return w.RedisIn / 1024 })
	add("KiB from Redis", func(w stretch) float64 { return w.RedisOut / 1024 })
	add("messages to NATS", func(w stretch) float64 { return w.NATS.InMsgs })
	add("messages from NATS", func(w stretch) float64 { return w.NATS.OutMsgs })
	add("payload to NATS, KiB", func(w stretch) float64 { return w.NATS.InBytes / 1024 })
	add("payload from NATS, KiB", func(w stretch) float64 { return w.NATS.OutBytes / 1024 })
	t = append(t, []string{"subscriptions at NATS", fmt.Sprintf("%.0f", s.Idle.NATS.Subscriptions), fmt.Sprintf("%.0f", s.Calls.NATS.Subscriptions)})
	return t
}

func (s *scale) commandTable() load.Table {
	t := load.Table{{"commands in Redis, idle", "a second"}}
	names := slices.SortedFunc(maps.Keys(s.Idle.Commands), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Idle.Commands[b], s.Idle.Commands[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		t = append(t, []string{name, fmt.Sprintf("%.1f", s.Idle.Commands[name])})
	}
	return t
}

func (s *scale) lagTable() load.Table {
	t := load.Table{{"milliseconds", "p50", "p90", "p99", "most", "samples"}}
	add := func(name string, q quantiles) {
		t = append(t, []string{name, millis(q.P50), millis(q.P90), millis(q.P99), millis(q.Max), fmt.Sprintf("%d", q.Samples)})
	}
	add("a call of 200 B, across pods", s.Latency)
	for _, l := range s.Lag {
		add("a node "+l.What+": a watcher hears", l.Watch)
		add("  the other gateway's list shows it", l.List)
		if l.Missed > 0 {
			t = append(t, []string{fmt.Sprintf("  not within %v !", shown), "", "", "", "", fmt.Sprint(l.Missed)})
		}
	}
	return t
}

func (i interest) table() load.Table {
	return load.Table{
		{fmt.Sprintf("%d subscriptions at one of two NATS servers, each", i.Subscriptions), ""},
		{"length of the subject", fmt.Sprintf("%.1f B", i.SubjectBytes)},
		{"bytes on the route when it comes", fmt.Sprintf("%.1f B", i.Came)},
		{"bytes on the route when it goes", fmt.Sprintf("%.1f B", i.Went)},
		{"CPU where it comes, and of the other server", micros(i.HereCPU) + ", " + micros(i.ThereCPU)},
		{"memory there after GC: RSS, Go heap", fmt.Sprintf("%.0f B, %.0f B", i.There.RSS, i.There.Heap)},
		{"memory where it comes, the same", fmt.Sprintf("%.0f B, %.0f B", i.Here.RSS, i.Here.Heap)},
	}
}

func percent(p float64) string { return fmt.Sprintf("%.3f", p) }

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
