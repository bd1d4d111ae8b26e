package node

import (
	"math/rand/v2"
	"time"
)

// timing holds every duration of a node. They are the protocol's, not the caller's; tests shorten them.
type timing struct {
	// heartbeat is how often the gateway is asked for a sign of life, and answer how long it may take to give one. Both together are
	// how soon a gateway that hangs is left.
	heartbeat, answer time.Duration
	// dial bounds the handshake, register the wait for `registered`.
	dial, register time.Duration
	// renew is the pause before a new token is asked for again, after an attempt that failed.
	renew time.Duration
	// heard is how long a connection that the node has given up may still count as its newest at a gateway, which learns the
	// truth with a heartbeat, half a minute later.
	heard time.Duration
	// write bounds one frame: 10 MiB in a minute is what a 1.4 Mbit/s uplink carries.
	write time.Duration
	// leave bounds how long the last answers may take to be written when the node stops.
	leave time.Duration
	// orphan is how long a call goes on after its connection was lost: callers wait no longer by default
	// (docs/protocols/zeus-nodes.md#calls).
	orphan time.Duration
	// retryBase is the first and retryMax the greatest ceiling of a pause before connecting again.
	retryBase, retryMax time.Duration
	// stable is how long a connection must have lasted for the pauses to begin anew.
	stable time.Duration
}

func defaultTiming() timing {
	return timing{
		heartbeat: 7 * time.Second,
		answer:    6 * time.Second,
		dial:      15 * time.Second,
		register:  15 * time.Second,
		renew:     10 * time.Second,
		heard:     time.Minute,
		write:     60 * time.Second,
		leave:     5 * time.Second,
		orphan:    60 * time.Second,
		retryBase: 500 * time.Millisecond,
		retryMax:  30 * time.Second,
		stable:    10 * time.Second,
	}
}

// Backoff says how long to wait before connecting again. Full jitter spreads the nodes of a pod that drained or died evenly
// over the ceiling; the first ceiling is short enough to be "at once" for a person. It is for one goroutine.
type Backoff struct {
	base, max time.Duration
	attempt   int
}

// NewBackoff returns the pauses of a [Node], for programs that speak the protocol themselves.
func NewBackoff() *Backoff {
	t := defaultTiming()
	return &Backoff{base: t.retryBase, max: t.retryMax}
}

// Next returns how long to wait now.
func (b *Backoff) Next() time.Duration {
	ceiling := b.max
	if shift := b.attempt; shift < 30 && b.base<<shift < b.max {
		ceiling = b.base << shift
	}
	b.attempt++
	return rand.N(ceiling)
}

// Reset begins anew, after a connection that has lasted.
func (b *Backoff) Reset() { b.attempt = 0 }
