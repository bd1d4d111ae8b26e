package main

import (
	"testing"
	"time"
)

func TestSumAddsUpSamples(t *testing.T) {
	t.Parallel()
	const page = `# HELP beats_total Heartbeats.
beats_total{result="OK"} 7
beats_total{result="UNKNOWN"} 2
rpc_seconds_count{code="OK",method="/node/Heartbeat"} 3
rpc_seconds_count{code="OK",method="/node/Register"} 1e+02
rpc_seconds_sum{code="OK",method="/node/Heartbeat"} 0.5
`
	for _, c := range []struct {
		parts []string
		want  float64
	}{
		{[]string{"beats_total"}, 9},
		{[]string{"rpc_seconds_count"}, 103},
		{[]string{"rpc_seconds_count", `/Heartbeat"`}, 3},
		{[]string{"nothing"}, 0},
	} {
		if got := sum(page, c.parts...); got != c.want {
			t.Errorf("%v: %v, want %v", c.parts, got, c.want)
		}
	}
}

func TestParseRedis(t *testing.T) {
	t.Parallel()
	r := parseRedis("# Memory\r\nused_memory:1048576\r\nused_memory_rss:2097152\r\n# CPU\r\nused_cpu_sys:1.250000\r\nused_cpu_user:0.750000\r\n" +
		"used_cpu_sys_children:9.0\r\ntotal_net_input_bytes:300\r\ntotal_net_output_bytes:400\r\n" +
		"cmdstat_evalsha:calls=12,usec=120,usec_per_call=10.00,rejected_calls=0,failed_calls=0\r\n")
	if r.used != 1<<20 || r.rss != 2<<20 || r.cpu != 2*time.Second || r.in != 300 || r.out != 400 || r.calls["evalsha"] != 12 || len(r.calls) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestStretchIsPerSecond(t *testing.T) {
	t.Parallel()
	at := time.Now()
	const metrics = "hecaton_registry_heartbeats_total{result=\"OK\"} "
	before := look{
		at: at, cpu: map[string]time.Duration{partNATS: time.Second}, metrics: metrics + "100\n",
		redis: redisInfo{calls: map[string]float64{"evalsha": 10, "ping": 1}}, nats: natsStats{InMsgs: 5, Subscriptions: 3},
	}
	after := look{
		at: at.Add(4 * time.Second), cpu: map[string]time.Duration{partNATS: 3 * time.Second}, metrics: metrics + "300\n",
		redis: redisInfo{calls: map[string]float64{"evalsha": 90, "zadd": 40, "ping": 1}}, nats: natsStats{InMsgs: 25, Subscriptions: 8},
	}
	s := before.until(after)
	if s.Seconds != 4 || s.CPU[partNATS] != 0.5 || s.Beats != 50 || s.scripts() != 20 || s.commands() != 30 || len(s.Commands) != 2 ||
		s.NATS.InMsgs != 5 || s.NATS.Subscriptions != 8 {
		t.Errorf("%+v", s)
	}
}
