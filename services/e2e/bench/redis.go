package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// redisStarts bounds the wait for redis-server, and for a cluster of them.
const redisStarts = 20 * time.Second

// playRedis runs redis-server where there is one, on a socket in a directory of its own, else miniredis; or the masters of a
// Redis Cluster.
func playRedis(w wiring) (Addresses, func() error, error) {
	bin, err := exec.LookPath("redis-server")
	switch {
	case err != nil && w.Shards > 1:
		return Addresses{}, nil, fmt.Errorf("a Redis Cluster needs redis-server: %w", err)
	case err != nil:
		return playMiniredis()
	}
	dir, err := os.MkdirTemp("", "hecaton-bench-")
	if err != nil {
		return Addresses{}, nil, err
	}
	r := &redisServers{bin: bin, dir: dir}
	var a Addresses
	if w.Shards > 1 {
		a.URL, err = r.cluster(w.Shards)
	} else {
		a.URL, err = r.single()
	}
	if err != nil {
		return Addresses{}, nil, errors.Join(err, r.stop())
	}
	return a, r.stop, nil
}

func playMiniredis() (Addresses, func() error, error) {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.StartAddr(loopback); err != nil {
		return Addresses{}, nil, err
	}
	return Addresses{URL: "redis://" + m.Addr()}, func() error { return nil }, nil
}

// redisServers are processes of redis-server, without persistence.
type redisServers struct {
	bin, dir string
	running  []*exec.Cmd
}

func (r *redisServers) start(args ...string) error {
	cmd := exec.Command(r.bin, append(args, "--dir", r.dir, "--save", "", "--appendonly", "no")...)
	if err := cmd.Start(); err != nil {
		return err
	}
	r.running = append(r.running, cmd)
	return nil
}

func (r *redisServers) stop() error {
	for _, cmd := range r.running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, as asked
	}
	return os.RemoveAll(r.dir)
}

// single starts one, on a socket.
func (r *redisServers) single() (string, error) {
	socket := filepath.Join(r.dir, "redis.sock")
	if err := r.start("--port", "0", "--unixsocket", socket); err != nil {
		return "", err
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer func() { _ = client.Close() }()
	return "unix://" + socket, until("redis-server answers", func(ctx context.Context) error { return client.Ping(ctx).Err() })
}

// cluster starts the masters of a Redis Cluster, each with an equal part of the slots.
func (r *redisServers) cluster(shards int) (string, error) {
	const host, slots = "127.0.0.1", 16384
	var clients []*redis.Client
	defer func() {
		for _, c := range clients {
			_ = c.Close()
		}
	}()
	query := url.Values{}
	for i := range shards {
		port, bus, err := freePorts(host)
		if err != nil {
			return "", err
		}
		addr := net.JoinHostPort(host, port)
		err = r.start("--bind", host, "--port", port, "--cluster-port", bus, "--cluster-enabled", "yes",
			"--cluster-config-file", "nodes-"+port+".conf", "--cluster-require-full-coverage", "no")
		if err != nil {
			return "", err
		}
		c := redis.NewClient(&redis.Options{Addr: addr})
		clients = append(clients, c)
		query.Add("addr", addr)
		err = until("redis-server "+addr+" takes its slots", func(ctx context.Context) error {
			return c.ClusterAddSlotsRange(ctx, i*slots/shards, (i+1)*slots/shards-1).Err()
		})
		if err == nil {
			err = clients[0].Do(context.Background(), "CLUSTER", "MEET", host, port, bus).Err()
		}
		if err != nil {
			return "", err
		}
	}
	for _, c := range clients {
		err := until("the Redis Cluster is whole", func(ctx context.Context) error {
			info, err := c.ClusterInfo(ctx).Result()
			if err == nil && (!strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_size:%d", shards))) {
				err = errors.New(info)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	addrs := query["addr"]
	query["addr"] = addrs[1:]
	return "redis://" + addrs[0] + "?" + query.Encode(), nil
}

// freePorts returns two that nobody listened at a moment ago.
func freePorts(host string) (first, second string, err error) {
	var ports [2]string
	for i := range ports {
		ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return "", "", err
		}
		defer func() { _ = ln.Close() }() // both are held until both are known
		_, ports[i], _ = net.SplitHostPort(ln.Addr().String())
	}
	return ports[0], ports[1], nil
}

// until tries something again and again.
func until(what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), redisStarts)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("in %v it did not come so far that %s: %w", redisStarts, what, err)
		}
	}
}
