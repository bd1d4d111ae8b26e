package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// redisStarts bounds the wait for redis-server.
const redisStarts = 10 * time.Second

// playRedis runs redis-server where there is one, on a socket in a directory of its own, else miniredis.
func playRedis() (Addresses, func() error, error) {
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		if err := m.StartAddr(loopback); err != nil {
			return Addresses{}, nil, err
		}
		return Addresses{URL: "redis://" + m.Addr()}, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "hecaton-bench-")
	if err != nil {
		return Addresses{}, nil, err
	}
	socket := filepath.Join(dir, "redis.sock")
	cmd := exec.Command(bin, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "no")
	if err := cmd.Start(); err != nil {
		return Addresses{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop := func() error {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, as asked
		return os.RemoveAll(dir)
	}
	url := "unix://" + socket
	if err := awaitRedis(url); err != nil {
		return Addresses{}, nil, errors.Join(err, stop())
	}
	return Addresses{URL: url}, stop, nil
}

func awaitRedis(url string) error {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return err
	}
	client := redis.NewClient(opts)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), redisStarts)
	defer cancel()
	for {
		err := client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("redis-server does not answer: %w", err)
		}
	}
}
