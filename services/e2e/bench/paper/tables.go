package paper

import (
	"fmt"
	"math"
	"strings"
)

// row is one line of a table: what, how it is computed, and its value for so many nodes and NATS servers.
type row struct {
	what, how string
	value     func(nodes, servers float64) string
}

// tables returns every table by its name in docs/scaling.md.
func (f figures) tables() map[string]string {
	tables := map[string]string{
		"memory":   f.run.memoryTable(),
		"work":     f.run.workTable(),
		"traffic":  f.run.trafficTable(),
		"lag":      f.run.lagTable(),
		"figures":  f.figuresTable(),
		"gateways": render(f.gatewayRows()),
		"presence": render(f.presenceRows()),
		"nats":     render(f.natsRows()),
		"churn":    render(f.churnRows()),
		"storms":   render(f.stormRows()),
		"runs":     render(f.runRows()),
		"machine":  f.run.machineTable(),
		"loss":     "", // of a run in which no gateway was lost
	}
	if f.run.Lost != nil {
		tables["loss"] = f.run.lossTable()
	}
	return tables
}

func render(rows []row) string {
	var b strings.Builder
	b.WriteString("| | how |")
	for _, s := range sizes {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("--:|", len(sizes)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |", r.what, r.how)
		for _, s := range sizes {
			b.WriteString(" " + r.value(s.nodes, s.servers) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (f figures) figuresTable() string {
	var b strings.Builder
	b.WriteString("| name | what | figure |\n|---|---|--:|\n")
	add := func(name, what, figure string) { fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, what, figure) }
	add("m_gw", "memory of a node in its gateway", size(f.gatewayMemory))
	add("m_nats", "memory of a node in the NATS server of its gateway", size(f.natsMemory))
	add("m_redis", "memory of a node in Redis", size(f.redisMemory))
	for _, p := range []struct{ name, part string }{{"gw", gateways}, {"reg", registry}, {"redis", redis}} {
		add("cpu_"+p.name, "processor time a second of an idle node: "+p.part, micros(f.idle[p.part]))
	}
	add("call_gw", "processor time of a call across pods, both gateways", micros(f.call[gateways]))
	add("call_nats", "the same, NATS server", micros(f.call[nats]))
	for _, p := range []struct{ name, part string }{{"gw", gateways}, {"reg", registry}, {"nats", nats}, {"redis", redis}} {
		add("come_"+p.name, "processor time of a node's connecting, and of its end: "+p.part, micros(f.comes[p.part])+", "+micros(f.goes[p.part]))
	}
	add("beats", "heartbeats a second that the registry takes of a node", fmt.Sprintf("%.4f", f.beats))
	add("scripts", "scripts a second in Redis for a node", fmt.Sprintf("%.4f", f.scripts))
	add("commands", "commands a second in Redis for a node, those within scripts included", fmt.Sprintf("%.3f", f.commands))
	add("net_redis", "bytes a second to and from Redis for a node", fmt.Sprintf("%.1f B", f.network))
	add("m_sub", "memory of a subscription in a NATS server that only hears of it", size(f.remoteMemory))
	add("cpu_sub", "processor time of that server when it hears of it", micros(f.remoteCPU))
	add("b_sub", "bytes on each route when a subscription comes, and when it goes", fmt.Sprintf("%.0f B, %.0f B", f.came, f.went))
	return b.String()
}

func (f figures) gatewayRows() []row {
	busy := func(calls float64) float64 { return podNodes * (f.idle[gateways] + calls*f.call[gateways]) }
	return []row{
		{"gateways", "nodes / 20,000", func(n, _ float64) string { return number(n / podNodes) }},
		{"memory of one", "20,000 × `m_gw`", func(_, _ float64) string { return size(podNodes * f.gatewayMemory) }},
		{"CPUs of one, idle nodes", "20,000 × `cpu_gw`", func(_, _ float64) string { return fmt.Sprintf("%.2f", busy(0)) }},
		{"CPUs of one, a call per node in 100 s", "the same + 20,000 × 0.01 × `call_gw`",
			func(_, _ float64) string { return fmt.Sprintf("%.2f", busy(callsPerNode)) }},
		{"calls a second", "nodes × 0.01", func(n, _ float64) string { return number(n * callsPerNode) }},
	}
}

func (f figures) presenceRows() []row {
	reports := func(n float64) float64 { return n / podNodes } // one a second of each gateway
	return []row{
		{"heartbeats a second", "nodes × `beats`", func(n, _ float64) string { return number(n * f.beats) }},
		{"in so many requests", "gateways × 1", func(n, _ float64) string { return number(reports(n)) }},
		{"scripts a second in Redis", "nodes × `scripts`", func(n, _ float64) string { return number(n * f.scripts) }},
		{"commands a second", "nodes × `commands`", func(n, _ float64) string { return number(n * f.commands) }},
		{"Redis's CPUs", "nodes × `cpu_redis`", func(n, _ float64) string { return fmt.Sprintf("%.1f", n*f.idle[redis]) }},
		{"shards, each half busy", "CPUs / 0.5, up", func(n, _ float64) string { return number(math.Ceil(n * f.idle[redis] / full)) }},
		{"memory of all shards", "nodes × `m_redis`", func(n, _ float64) string { return size(n * f.redisMemory) }},
		{"network of all shards", "nodes × `net_redis`", func(n, _ float64) string { return size(n*f.network) + "/s" }},
		{"of it at the one key `hecaton:users`: users claimed and settled a second", "nodes / 60",
			func(n, _ float64) string { return number(n / sweep) }},
		{"registry's CPUs", "nodes × `cpu_reg`", func(n, _ float64) string { return fmt.Sprintf("%.1f", n*f.idle[registry]) }},
		{"replicas of one CPU, each half busy, and one more", "CPUs / 0.5, up, + 1",
			func(n, _ float64) string { return number(math.Ceil(n*f.idle[registry]/full) + 1) }},
	}
}

func (f figures) natsRows() []row {
	all := func(n float64) float64 { return n * subscriptions }
	memory := func(n, s float64) float64 { return n/s*f.natsMemory + (n-n/s)*subscriptions*f.remoteMemory }
	return []row{
		{"NATS servers, a full mesh", "chosen", func(_, s float64) string { return number(s) }},
		{"subscriptions, all known to every server", "nodes × 2", func(n, _ float64) string { return number(all(n)) }},
		{"memory of each server", "nodes / servers × `m_nats` + the other nodes × 2 × `m_sub`", func(n, s float64) string { return size(memory(n, s)) }},
		{"a server that starts hears", "subscriptions × (servers − 1) / servers × `b_sub`",
			func(n, s float64) string { return size(all(n) * (s - 1) / s * f.came) }},
		{"and is busy with that, on one CPU", "the same number × `cpu_sub`",
			func(n, s float64) string { return duration(all(n) * (s - 1) / s * f.remoteCPU) }},
		{"CPUs for calls, all servers", "calls × `call_nats`", func(n, _ float64) string { return fmt.Sprintf("%.1f", n*callsPerNode*f.call[nats]) }},
	}
}

func (f figures) churnRows() []row {
	moves := func(n float64) float64 { return n / session }
	return []row{
		{"nodes that come, and that go, a second", "nodes / 7,200 s", func(n, _ float64) string { return number(moves(n)) }},
		{"presence events a second", "× 3", func(n, _ float64) string { return number(moves(n) * events) }},
		{"interest on each route", "× 2 × `b_sub`, came and went", func(n, _ float64) string {
			return size(moves(n)*subscriptions*(f.came+f.went)) + "/s"
		}},
		{"interest sent by all servers", "× (servers − 1)", func(n, s float64) string {
			return size(moves(n)*subscriptions*(f.came+f.went)*(s-1)) + "/s"
		}},
		{"CPUs, all gateways", "× `come_gw`, both", func(n, _ float64) string { return f.moveCPU(moves(n), gateways) }},
		{"CPUs, registry", "× `come_reg`, both", func(n, _ float64) string { return f.moveCPU(moves(n), registry) }},
		{"CPUs, Redis", "× `come_redis`, both", func(n, _ float64) string { return f.moveCPU(moves(n), redis) }},
	}
}

func (f figures) moveCPU(moves float64, part string) string {
	return fmt.Sprintf("%.2f", moves*(f.comes[part]+f.goes[part]))
}

func (f figures) stormRows() []row {
	lost := func(n float64, part string) float64 { return n * (f.comes[part] + f.goes[part]) }
	atOnce := func(n float64) float64 { return math.Max(1, n/podNodes/together) }
	return []row{
		{"reconnects a second while one gateway drains", "DRAIN_RATE", func(_, _ float64) string { return number(drainRate) }},
		{"for", "20,000 / 1,000", func(_, _ float64) string { return duration(podNodes / drainRate) }},
		{"CPUs: other gateways, registry, Redis", "× `come_…`, both", func(_, _ float64) string {
			return f.moveCPU(drainRate, gateways) + ", " + f.moveCPU(drainRate, registry) + ", " + f.moveCPU(drainRate, redis)
		}},
		{"CPU of each NATS server", "× 2 × 2 × `cpu_sub`", func(_, _ float64) string {
			return fmt.Sprintf("%.2f", drainRate*subscriptions*2*f.remoteCPU)
		}},
		{"presence events a second meanwhile", "× 3", func(_, _ float64) string { return number(drainRate * events) }},
		{"a rolling restart, one after the other", "gateways × 30 s", func(n, _ float64) string { return duration(n / podNodes * turn) }},
		{"the same, a twentieth at once", "20 × 30 s, or as above", func(n, _ float64) string { return duration(n / podNodes / atOnce(n) * turn) }},
		{"reconnects a second of that", "gateways / 20 × 1,000, or as above", func(n, _ float64) string { return number(atOnce(n) * drainRate) }},
		{"DRAIN_RATE that keeps them at 10,000", "10,000 / (gateways / 20)", func(n, _ float64) string {
			return number(math.Min(drainRate, bearable/atOnce(n)))
		}},
		{"all nodes lost at once: CPU time of the registry", "nodes × `come_reg`, both", func(n, _ float64) string { return duration(lost(n, registry)) }},
		{"of Redis, all shards", "nodes × `come_redis`, both", func(n, _ float64) string { return duration(lost(n, redis)) }},
		{"of each NATS server", "nodes × 2 × 2 × `cpu_sub`", func(n, _ float64) string {
			return duration(n * subscriptions * 2 * f.remoteCPU)
		}},
	}
}

func (f figures) runRows() []row {
	return []row{
		{"runs that begin a second", "nodes / 3,600 s", func(n, _ float64) string { return number(n * runsPerNode) }},
		{"commits a second", "× 18", func(n, _ float64) string { return number(n * runsPerNode * commitsPerRun) }},
	}
}

// size writes bytes with three digits.
func size(b float64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if b < 1000 {
			return digits(b) + " " + unit
		}
		b /= 1024
	}
	return digits(b) + " GiB"
}

func digits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

// number writes a count, rounded to three digits where it is large, with commas.
func number(v float64) string {
	if v >= 1000 {
		unit := math.Pow(10, math.Floor(math.Log10(v))-2)
		v = math.Round(v/unit) * unit
	} else if v != math.Trunc(v) && v < 100 {
		return digits(v)
	}
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func micros(seconds float64) string { return fmt.Sprintf("%.1f µs", seconds*1e6) }

func duration(seconds float64) string {
	switch {
	case seconds < 100:
		return digits(seconds) + " s"
	case seconds < 6000:
		return digits(seconds/60) + " min"
	}
	return digits(seconds/3600) + " h"
}
