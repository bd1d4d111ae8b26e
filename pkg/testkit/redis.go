package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
)

var redisKind = kind{name: "redis", sources: []source{
	{name: "redis-server on this machine", start: startRedisServer},
	{name: "miniredis in this process (stand-in)", standIn: true, start: startMiniredis},
}}

// startRedisServer runs the binary without persistence, so it writes no file anywhere.
func startRedisServer(port int) (backend, error) {
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errUnavailable
	}
	p, err := startProcess("Ready to accept connections", bin,
		"--port", strconv.Itoa(port), "--bind", loopback, "--dir", os.TempDir(), "--save", "", "--appendonly", "no")
	if err != nil && strings.Contains(err.Error(), "Address already in use") {
		return nil, fmt.Errorf("%w: %w", errPortTaken, err)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

type miniredisBackend struct{ *miniredis.Miniredis }

func startMiniredis(port int) (backend, error) {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true) // else keys with a TTL live for ever
	if err := m.StartAddr(loopback + ":" + strconv.Itoa(port)); err != nil {
		return nil, fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return miniredisBackend{m}, nil
}

func (b miniredisBackend) stop() error {
	b.Close()
	return nil
}
