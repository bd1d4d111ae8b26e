package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The tables of what was measured.

var parts = []struct{ name, part string }{{"gateways", gateways}, {"registry", registry}, {"NATS server", nats}, {"Redis", redis}}

// markdown is a table whose first row is its head.
func markdown(rows ...[]string) string {
	var b strings.Builder
	for i, cells := range rows {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|---|" + strings.Repeat("--:|", len(cells)-1) + "\n")
		}
	}
	return b.String()
}

func (r run) memoryTable() string {
	rows := [][]string{{fmt.Sprintf("%s idle nodes: memory per node", number(r.Nodes)), "RSS when quiet", "RSS after a garbage collection", "of it Go heap", "stacks"}}
	for _, p := range parts[:3] {
		c := r.Collected[p.part]
		rows = append(rows, []string{p.name, size(r.Quiet[p.part].RSS), size(c.RSS), size(c.Heap), size(max(0, c.Stacks))})
	}
	return markdown(append(rows, []string{"Redis (data " + size(r.Redis.Used) + ")", size(r.Redis.RSS), "", "", ""})...)
}

// machineTable is what all processes of a kind took together.
func (r run) machineTable() string {
	rows := [][]string{{fmt.Sprintf("%s nodes", number(r.Nodes)), "processes", "memory for the nodes", "CPUs, idle", fmt.Sprintf("CPUs with %s calls/s", number(r.Rate))}}
	count := map[string]float64{gateways: r.Gateways, registry: max(1, r.Registries), nats: 1, redis: max(1, r.Shards)}
	for _, p := range parts {
		memory := r.Quiet[p.part].RSS
		if p.part == redis {
			memory = r.Redis.RSS
		}
		rows = append(rows, []string{
			p.name, number(count[p.part]), size(memory * r.Nodes), fmt.Sprintf("%.2f", r.Idle.CPU[p.part]), fmt.Sprintf("%.2f", r.Calls.CPU[p.part]),
		})
	}
	const simulated = "simulated nodes" // on the same machine
	if r.Idle.CPU[simulated] > 0 {
		rows = append(rows, []string{
			simulated, number(r.Gateways), "", fmt.Sprintf("%.2f", r.Idle.CPU[simulated]), fmt.Sprintf("%.2f", r.Calls.CPU[simulated]),
		})
	}
	rows = append(rows,
		[]string{"all of them came in", duration(r.Coming.Seconds), "", "", ""},
		[]string{"calls, in " + duration(r.Calls.Seconds), fmt.Sprintf("%.0f", r.Latency.Samples), "", "", ""},
	)
	for _, reason := range slices.Sorted(maps.Keys(r.Made.Failed)) {
		rows = append(rows, []string{"of them `" + reason + "`", number(r.Made.Failed[reason]), "", "", ""})
	}
	if r.Dropped > 0 {
		rows = append(rows, []string{"connections that ended by themselves", number(r.Dropped), "", "", ""})
	}
	return markdown(rows...)
}

// lossTable is what the death of a gateway did.
func (r run) lossTable() string {
	l := r.Lost
	ms := func(ns float64) string { return fmt.Sprintf("%.1f ms", ns/1e6) }
	rows := [][]string{
		{fmt.Sprintf("one of %s gateways is killed", number(r.Gateways)), ""},
		{"nodes that it held, at others after", number(l.Nodes-l.Missing) + ", " + duration(l.Returned/1e9)},
		{"attempts to connect that failed", number(l.Retries)},
		{"calls to all nodes meanwhile", fmt.Sprintf("%.0f", l.Calls)},
		{"p50, p99, most", ms(l.Latency.P50) + ", " + ms(l.Latency.P99) + ", " + ms(l.Latency.Max)},
	}
	for _, reason := range slices.Sorted(maps.Keys(l.Failed)) {
		rows = append(rows, []string{"of them `" + reason + "`", number(l.Failed[reason])})
	}
	return markdown(rows...)
}

func (r run) workTable() string {
	rows := [][]string{{
		"processor time", "idle, % of one CPU per 1,000 nodes", fmt.Sprintf("with %s calls/s", number(r.Rate)), "a call",
		"a node that comes", "a node that goes",
	}}
	for _, p := range parts {
		per := func(s stretch) float64 { return s.CPU[p.part] * 100 / r.Nodes * 1000 }
		move := func(s stretch) float64 { return s.CPU[p.part] * s.Seconds / r.Nodes }
		call := max(0, r.Calls.CPU[p.part]-r.Idle.CPU[p.part]) / r.Rate
		rows = append(rows, []string{
			p.name, fmt.Sprintf("%.3f", per(r.Idle)), fmt.Sprintf("%.3f", per(r.Calls)), micros(call), micros(move(r.Coming)), micros(move(r.Going)),
		})
	}
	return markdown(rows...)
}

func (r run) trafficTable() string {
	rows := [][]string{{"a second", "idle", fmt.Sprintf("with %s calls/s", number(r.Rate))}}
	add := func(name string, of func(stretch) float64) {
		rows = append(rows, []string{name, number(of(r.Idle)), number(of(r.Calls))})
	}
	add("heartbeats of nodes that the registry took", func(s stretch) float64 { return s.Beats })
	add("in so many requests", func(s stretch) float64 { return s.BeatRPCs })
	add("scripts in Redis", func(s stretch) float64 { return s.Commands["evalsha"] })
	add("commands in Redis, those of scripts included", stretch.commands)
	add("KiB to and from Redis", func(s stretch) float64 { return (s.RedisIn + s.RedisOut) / 1024 })
	add("messages that NATS delivered", func(s stretch) float64 { return s.NATS.OutMsgs })
	add("KiB of payload in them", func(s stretch) float64 { return s.NATS.OutBytes / 1024 })
	return markdown(rows...)
}

func (s stretch) commands() (all float64) {
	for _, n := range s.Commands {
		all += n
	}
	return all
}

func (r run) lagTable() string {
	rows := [][]string{{"milliseconds", "p50", "p90", "p99", "most", "samples"}}
	add := func(name string, q quantiles) {
		row := []string{name}
		for _, v := range []float64{q.P50, q.P90, q.P99, q.Max} {
			row = append(row, fmt.Sprintf("%.1f", v/1e6))
		}
		rows = append(rows, append(row, number(q.Samples)))
	}
	add("a call of 200 B across pods", r.Latency)
	for _, l := range r.Lag {
		add("a node "+l.What+": a watcher hears of it", l.Watch)
		add("the other gateway's list shows it", l.List)
		if l.Missed > 0 {
			rows = append(rows, []string{"not both within 20 s", "", "", "", "", number(l.Missed)})
		}
	}
	return markdown(rows...)
}
