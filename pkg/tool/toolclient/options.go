package toolclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// Options of a [Client].
type Options struct {
	// Targets are where the gateways are: host:port, also written dns:///host:port. Each address that a host has is one
	// gateway.
	Targets []string
	// Dial are options of every connection and hold the transport credentials, as those of auth.ServiceAuth do.
	Dial []grpc.DialOption
	// Patience bounds second tries.
	Patience Patience
	// MaxCall is the size of the largest call in bytes, names and arguments together; 0 means 10 MiB, the largest frame of
	// a node. It must not exceed what gateways take: a larger message would end the stream that all calls share.
	MaxCall int
	// Lookup returns the addresses of a host; nil asks the system's resolver.
	Lookup func(ctx context.Context, host string) ([]string, error)
	// Tracing makes a span of each try of a call; nil makes none, and passes on the trace that the call's context has.
	Tracing *obs.Tracing
	// Logger hears of gateways that come and go; nil means discard.
	Logger *slog.Logger
}

// Patience is how long a call is retried after it was first refused for a reason; 0 means the default, less than 0 no
// retries. The call's own deadline comes first.
type Patience struct {
	// NotConnected is for NODE_NOT_CONNECTED: a node whose gateway drains is back within a second or two. Default 3 s.
	NotConnected time.Duration
	// Busy is for NODE_BUSY. Default 1 s: a node's queue of 64 is full, and more callers do not make it shorter.
	Busy time.Duration
	// Unavailable is for DRAINING and BUS_UNAVAILABLE of every gateway, and for no gateway being reachable. Default 10 s.
	Unavailable time.Duration
}

const defaultMaxCall = 10 << 20

func (o Options) withDefaults() Options {
	o.Patience.NotConnected = orDefault(o.Patience.NotConnected, 3*time.Second)
	o.Patience.Busy = orDefault(o.Patience.Busy, time.Second)
	o.Patience.Unavailable = orDefault(o.Patience.Unavailable, 10*time.Second)
	if o.MaxCall == 0 {
		o.MaxCall = defaultMaxCall
	}
	if o.Lookup == nil {
		o.Lookup = net.DefaultResolver.LookupHost
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault(d, deflt time.Duration) time.Duration {
	if d == 0 {
		return deflt
	}
	return d
}

// target is one entry of Options.Targets.
type target struct{ host, port string }

func (t target) String() string { return net.JoinHostPort(t.host, t.port) }

// fixed reports whether the target is an address already.
func (t target) fixed() bool { return net.ParseIP(t.host) != nil }

func parseTargets(raw []string) ([]target, error) {
	if len(raw) == 0 {
		return nil, errors.New("toolclient: the gateway address is missing; give host:port or dns:///host:port")
	}
	var targets []target
	for _, text := range raw {
		host, port, err := net.SplitHostPort(strings.TrimPrefix(text, "dns:///"))
		if err != nil || host == "" || port == "" || strings.Contains(host+port, "/") {
			return nil, fmt.Errorf("toolclient: gateway %q must be host:port or dns:///host:port", text)
		}
		targets = append(targets, target{host, port})
	}
	return targets, nil
}
