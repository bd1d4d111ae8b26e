package node

import (
	"sync"
	"time"
)

// Phase is where a node's connection stands.
type Phase string

// The phases, in the order of a node's life; Connecting to Disconnected repeat.
const (
	// Connecting: the gateway is being dialled, or has yet to answer register.
	Connecting Phase = "connecting"
	// Connected: the gateway has registered the node; its tools can be called from every pod.
	Connected Phase = "connected"
	// Disconnected: the connection is lost; State.Err says why, State.Retry when the next attempt begins.
	Disconnected Phase = "disconnected"
	// Stopped: Run is returning; State.Err is what it returns.
	Stopped Phase = "stopped"
)

// State is what OnState is told.
type State struct {
	Phase Phase
	Err   error
	Retry time.Duration
}

// link is the state that callers of a Node may watch.
type link struct {
	mu sync.Mutex
	// Guarded by mu. connected is closed exactly while the node is connected.
	connected chan struct{}
	up        bool
}

func newLink() *link { return &link{connected: make(chan struct{})} }

func (l *link) channel() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.connected
}

func (l *link) set(up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case up && !l.up:
		close(l.connected)
	case !up && l.up:
		l.connected = make(chan struct{})
	}
	l.up = up
}
