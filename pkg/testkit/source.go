package testkit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// kind is a sort of server and where it can come from, best source first.
type kind struct {
	name    string // also the URL's scheme
	sources []source
}

var (
	redisKind = kind{name: "redis", sources: []source{
		{name: "redis-server on this machine", start: startRedisServer},
		{name: "miniredis in this process (stand-in)", standIn: true, start: inProcess(startMiniredis)},
	}}
	natsKind = kind{name: "nats", sources: []source{
		{name: "nats-server in this process", start: inProcess(startNATS)},
	}}
)

type source struct {
	name    string
	standIn bool
	// start returns once a server serves on the loopback port; a port that is taken is embedded.ErrListen.
	start func(port int) (backend, error)
	// drop, where not nil, removes what a server that will not be started again has left.
	drop func() error
}

// errUnavailable: this source does not exist on this machine; the next one may.
var errUnavailable = errors.New("not on this machine")

// backend is a running server.
type backend interface {
	// stop ends the server and returns when its port is free and its goroutines are gone.
	stop() error
}

// inProcess makes a source's start of one of package embedded.
func inProcess[S closer](start func(addr string) (S, error)) func(port int) (backend, error) {
	return func(port int) (backend, error) {
		s, err := start(loopbackAddr(port))
		if err != nil {
			return nil, err
		}
		return closing{s}, nil
	}
}

func startNATS(addr string) (*embedded.NATS, error) { return embedded.StartNATS(addr, admission) }

func startMiniredis(addr string) (*embedded.Redis, error) { return embedded.StartRedis(addr, nil) }

type closer interface{ Close() }

type closing struct{ closer }

// stop tells what a NATS server did not allow: a service of ours that tries it has a hole in package access.
func (c closing) stop() error {
	c.Close()
	if n, ok := c.closer.(*embedded.NATS); ok && len(n.Denied()) > 0 {
		return fmt.Errorf("NATS did not allow: %s", strings.Join(n.Denied(), "; "))
	}
	return nil
}
