package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// redisInfo is what a redis-server tells of itself.
type redisInfo struct {
	used, rss int64 // bytes
	cpu       time.Duration
	calls     map[string]float64 // by command
	in, out   float64            // bytes
}

// readRedis adds up what all masters of a cluster tell.
func readRedis(ctx context.Context, client redis.UniversalClient) (redisInfo, error) {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return readRedisServer(ctx, client)
	}
	var mu sync.Mutex
	all := redisInfo{calls: make(map[string]float64)}
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		one, err := readRedisServer(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		all.add(one)
		return err
	})
	return all, err
}

func (r *redisInfo) add(other redisInfo) {
	r.used, r.rss, r.cpu = r.used+other.used, r.rss+other.rss, r.cpu+other.cpu
	r.in, r.out = r.in+other.in, r.out+other.out
	for name, n := range other.calls {
		r.calls[name] += n
	}
}

func readRedisServer(ctx context.Context, client redis.UniversalClient) (redisInfo, error) {
	// The section "everything" exists since Redis 7 only.
	var text strings.Builder
	for _, section := range []string{"memory", "cpu", "stats", "commandstats"} {
		part, err := client.Info(ctx, section).Result()
		if err != nil {
			return redisInfo{}, fmt.Errorf("redis: %w", err)
		}
		text.WriteString(part)
	}
	return parseRedis(text.String()), nil
}

func parseRedis(info string) redisInfo {
	r := redisInfo{calls: make(map[string]float64)}
	number := func(text string) float64 {
		v, _ := strconv.ParseFloat(text, 64) // what is no number is none that is asked for
		return v
	}
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch key {
		case "used_memory":
			r.used = int64(number(value))
		case "used_memory_rss":
			r.rss = int64(number(value))
		case "used_cpu_sys", "used_cpu_user":
			r.cpu += time.Duration(number(value) * float64(time.Second))
		case "total_net_input_bytes":
			r.in = number(value)
		case "total_net_output_bytes":
			r.out = number(value)
		default:
			if name, ok := strings.CutPrefix(key, "cmdstat_"); ok {
				calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
				r.calls[name] = number(calls)
			}
		}
	}
	return r
}

// footprint is the memory of all parts at one moment.
type footprint struct {
	gateways, registry, nats proc.Usage
	redis                    *redisInfo // nil without a redis-server
}

// memory looks at it, after a garbage collection of each where that is asked for.
func (s *scaling) memory(ctx context.Context, collect bool) (f footprint, err error) {
	usage := func(p pod) (proc.Usage, error) {
		if collect {
			return collected(p)
		}
		return p.Usage()
	}
	all := func(pods []pod) (sum proc.Usage, err error) {
		for _, p := range pods {
			u, err := usage(p)
			if err != nil {
				return sum, err
			}
			sum.RSS, sum.Heap, sum.Stacks = sum.RSS+u.RSS, sum.Heap+u.Heap, sum.Stacks+u.Stacks
		}
		return sum, nil
	}
	if f.gateways, err = all(s.gateways); err != nil {
		return f, err
	}
	if f.registry, err = all(s.registries); err != nil {
		return f, err
	}
	if f.nats, err = usage(s.cluster.nats); err != nil {
		return f, err
	}
	if s.gauges.redis != nil {
		info, err := readRedis(ctx, s.gauges.redis)
		f.redis = &info
		return f, err
	}
	return f, nil
}

// perNode returns what memory grew by. All gateways together hold all nodes, as the others serve all.
func perNode(from, to footprint, nodes int) map[string]memory {
	return map[string]memory{
		partGateways: growth(from.gateways, to.gateways, nodes),
		partRegistry: growth(from.registry, to.registry, nodes),
		partNATS:     growth(from.nats, to.nats, nodes),
	}
}
