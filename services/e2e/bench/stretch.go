package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// stretch is what everybody did in a time, per second of it.
type stretch struct {
	Seconds float64
	// CPU is seconds of processor time, by part.
	CPU map[string]float64
	// Beats is how many nodes' heartbeats the registry took, BeatRPCs in how many requests, RPCs all that it answered.
	Beats, BeatRPCs, RPCs float64
	// Commands are Redis's, those within scripts included, by name; RedisIn and RedisOut bytes from and to clients.
	Commands          map[string]float64 `json:",omitempty"`
	RedisIn, RedisOut float64
	// NATS is in messages and bytes of payload; Subscriptions and Connections are those at its end.
	NATS natsStats
}

// natsStats is what NATS's monitoring tells in /varz.
type natsStats struct {
	InMsgs        float64 `json:"in_msgs"`
	OutMsgs       float64 `json:"out_msgs"`
	InBytes       float64 `json:"in_bytes"`
	OutBytes      float64 `json:"out_bytes"`
	Subscriptions float64 `json:"subscriptions"`
	Connections   float64 `json:"connections"`
	Routes        float64 `json:"routes"`
}

func readNATS(ctx context.Context, server pod) (n natsStats, err error) {
	page, err := fetch(ctx, "http://"+server.Admin+"/varz")
	if err == nil {
		err = json.Unmarshal([]byte(page), &n)
	}
	if err != nil {
		return n, fmt.Errorf("NATS's monitoring: %w", err)
	}
	return n, nil
}

// gauges are what is asked for figures that getrusage does not have.
type gauges struct {
	// redis is nil where the store is not a redis-server.
	redis  redis.UniversalClient
	pods   []pod
	fleets []fleet
	rest   *cluster
}

func (c *cluster) newGauges(gateways ...pod) (gauges, error) {
	p := gauges{pods: gateways, rest: c}
	client, err := redisclient.Open(c.redis.URL, tlsfiles.Config{})
	if err != nil {
		return p, err
	}
	if _, err := readRedis(context.Background(), client); err != nil {
		return p, client.Close() // miniredis has no figures
	}
	p.redis = client
	return p, nil
}

func (p gauges) close() error {
	if p.redis == nil {
		return nil
	}
	return p.redis.Close()
}

// during measures what f takes.
func (s *scaling) during(ctx context.Context, f func() error) (stretch, error) {
	before, err := s.gauges.look(ctx)
	if err != nil {
		return stretch{}, err
	}
	if err := f(); err != nil {
		return stretch{}, err
	}
	after, err := s.gauges.look(ctx)
	return before.until(after), err
}

// look is all counters at one moment.
type look struct {
	at      time.Time
	cpu     map[string]time.Duration
	metrics string // the registries' pages
	redis   redisInfo
	nats    natsStats
}

func (p gauges) look(ctx context.Context) (l look, err error) {
	l.at = time.Now()
	l.cpu = make(map[string]time.Duration)
	children := map[*proc.Child]string{p.rest.nats.Child: partNATS}
	for _, r := range p.rest.registries {
		children[r.Child] = partRegistry
		page, err := fetch(ctx, "http://"+r.Admin+"/metrics")
		if err != nil {
			return l, err
		}
		l.metrics += page
	}
	for _, g := range p.pods {
		children[g.Child] = partGateways
	}
	for _, f := range p.fleets {
		children[f.Child] = partNodes
	}
	for child, part := range children {
		u, err := child.Usage()
		if err != nil {
			return l, err
		}
		l.cpu[part] += u.CPU
	}
	if l.nats, err = readNATS(ctx, p.rest.nats); err != nil {
		return l, err
	}
	if p.redis != nil {
		l.redis, err = readRedis(ctx, p.redis)
		l.cpu[partRedis] = l.redis.cpu
	}
	return l, err
}

// until returns what happened between two looks, per second.
func (l look) until(end look) stretch {
	w := stretch{Seconds: end.at.Sub(l.at).Seconds(), CPU: make(map[string]float64), Commands: make(map[string]float64)}
	per := func(from, to float64) float64 { return (to - from) / w.Seconds }
	for part, used := range end.cpu {
		w.CPU[part] = per(l.cpu[part].Seconds(), used.Seconds())
	}
	count := func(parts ...string) float64 { return per(sum(l.metrics, parts...), sum(end.metrics, parts...)) }
	w.Beats = count("hecaton_registry_heartbeats_total")
	w.BeatRPCs = count("hecaton_registry_rpc_duration_seconds_count", "Heartbeat\"")
	w.RPCs = count("hecaton_registry_rpc_duration_seconds_count")
	for name, calls := range end.redis.calls {
		if n := per(l.redis.calls[name], calls); n > 0 {
			w.Commands[name] = n
		}
	}
	w.RedisIn, w.RedisOut = per(l.redis.in, end.redis.in), per(l.redis.out, end.redis.out)
	w.NATS = natsStats{
		InMsgs: per(l.nats.InMsgs, end.nats.InMsgs), OutMsgs: per(l.nats.OutMsgs, end.nats.OutMsgs),
		InBytes: per(l.nats.InBytes, end.nats.InBytes), OutBytes: per(l.nats.OutBytes, end.nats.OutBytes),
		Subscriptions: end.nats.Subscriptions, Connections: end.nats.Connections,
	}
	return w
}

// scripts are the commands that clients send; those within a script are counted besides.
func (w stretch) scripts() float64 { return w.Commands["evalsha"] }

func (w stretch) commands() (all float64) {
	for n := range maps.Values(w.Commands) {
		all += n
	}
	return all
}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	// One request at a time and few of them: a connection each leaves nothing open behind.
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return string(raw), nil
}

// sum adds up the samples of a page of metrics whose lines begin with name and contain all parts.
func sum(page string, parts ...string) (total float64) {
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		name, rest := parts[0], parts[1:]
		if !strings.HasPrefix(line, name) || !containsAll(line, rest) {
			continue
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err == nil {
			total += v
		}
	}
	return total
}

func containsAll(line string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(line, p) {
			return false
		}
	}
	return true
}
