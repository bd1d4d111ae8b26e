package paper

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed figures.json
var measured []byte

// report is what is taken of the benchmark's file; the names are its.
type report struct {
	Scale run
}

type run struct {
	Nodes, Rate                float64
	Gateways                   float64
	Registries, Shards         float64
	Dropped                    float64
	Quiet, Collected           map[string]memory
	Redis                      *struct{ Used, RSS float64 }
	Idle, Calls, Coming, Going stretch
	Latency                    quantiles
	Made                       calls
	Lag                        []struct {
		What        string
		Watch, List quantiles
		Missed      float64
	}
	// Lost is what the death of a gateway did, in a run with more than two; its times are in nanoseconds.
	Lost *struct {
		Nodes, Missing, Returned, Retries float64
		calls
	}
	Route struct {
		Came, Went, HereCPU, ThereCPU float64
		There                         memory
	}
}

// calls are what became of calls; Failed counts those that did not succeed by what became of them.
type calls struct {
	Calls   float64
	Failed  map[string]float64
	Latency quantiles
}

type memory struct{ RSS, Heap, Stacks float64 }

type stretch struct {
	Seconds, Beats, BeatRPCs, RPCs, RedisIn, RedisOut float64
	CPU, Commands                                     map[string]float64
	NATS                                              struct {
		InMsgs   float64 `json:"in_msgs"`
		OutMsgs  float64 `json:"out_msgs"`
		OutBytes float64 `json:"out_bytes"`
	}
}

// quantiles are in nanoseconds.
type quantiles struct{ Samples, P50, P90, P99, Max float64 }

// The names of the processes in the file.
const (
	gateways = "gateways"
	registry = "registry"
	nats     = "NATS"
	redis    = "Redis"
)

// figures are those that the arithmetic uses, each per node, per call or per subscription. Times are seconds of a
// processor, sizes bytes.
type figures struct {
	run run
	// memory that a node takes in its gateway, in the NATS server of its gateway, and in Redis.
	gatewayMemory, natsMemory, redisMemory float64
	// idle is processor time per second and node, by process; call that of one call across pods; comes and goes that of a
	// node's connecting and of its end.
	idle, call, comes, goes map[string]float64
	// beats are heartbeats that the registry takes, scripts and commands Redis's, network its bytes in and out: each per second
	// and node.
	beats, scripts, commands, network float64
	// remoteMemory, remoteCPU, came and went are what a subscription takes in a NATS server that only hears of it, and its
	// bytes on the route when it comes and when it goes.
	remoteMemory, remoteCPU, came, went float64
}

func load(raw []byte) (f figures, err error) {
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		return f, fmt.Errorf("figures: %w", err)
	}
	s := r.Scale
	if s.Nodes == 0 || s.Redis == nil || s.Idle.Beats == 0 {
		return f, fmt.Errorf("figures: not those of a whole run with a redis-server")
	}
	f = figures{
		run:           s,
		gatewayMemory: s.Quiet[gateways].RSS, natsMemory: s.Quiet[nats].RSS, redisMemory: s.Redis.Used,
		idle: map[string]float64{}, call: map[string]float64{}, comes: map[string]float64{}, goes: map[string]float64{},
		beats: s.Idle.Beats / s.Nodes, scripts: s.Idle.Commands["evalsha"] / s.Nodes,
		network:      (s.Idle.RedisIn + s.Idle.RedisOut) / s.Nodes,
		remoteMemory: s.Route.There.RSS, remoteCPU: s.Route.ThereCPU / 1e9, came: s.Route.Came, went: s.Route.Went,
	}
	f.commands = s.Idle.commands() / s.Nodes
	for _, part := range []string{gateways, registry, nats, redis} {
		f.idle[part] = s.Idle.CPU[part] / s.Nodes
		f.call[part] = max(0, s.Calls.CPU[part]-s.Idle.CPU[part]) / s.Rate // what calls do not touch differs by noise only
		f.comes[part] = s.Coming.CPU[part] * s.Coming.Seconds / s.Nodes
		f.goes[part] = s.Going.CPU[part] * s.Going.Seconds / s.Nodes
	}
	return f, nil
}
