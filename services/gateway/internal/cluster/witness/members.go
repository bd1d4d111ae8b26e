package witness

import (
	"maps"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

const (
	// memory is how long before a call was sent a gateway must have been silent, not to count as one that may have it. It is
	// longer than a holder takes calls without an answer of the bus, and than servers of the bus take to notice that one
	// of them hangs.
	memory = 30 * time.Second
	// forgetAfter is how long after it was last heard a gateway is remembered at all.
	forgetAfter = memory + horizon + transit
	// acquainted is how long a pod listens after its start before it knows all others: they speak every second, and one that
	// has not for so long takes no calls.
	acquainted = 8 * time.Second
)

// members are the other gateways. It is safe for concurrent use.
type members struct {
	since time.Time // static: when this pod began to listen

	mu  sync.Mutex
	all map[ids.GatewayID]*member
}

type member struct {
	heard time.Time
	gone  bool
	// words are the calls that one that is gone had seen; nil where it did not say.
	words map[digest]struct{}
}

// here notes that a gateway was heard.
func (m *members) here(id ids.GatewayID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.all[id]; known == nil {
		m.all[id] = &member{heard: now}
	} else if !known.gone { // a process ends once; what comes later was sent before
		known.heard = now
	}
	maps.DeleteFunc(m.all, func(_ ids.GatewayID, other *member) bool { return now.Sub(other.heard) > forgetAfter })
}

// back has those that are known count as heard: while this pod was off the bus it could not hear them.
func (m *members) back(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.all {
		if !other.gone {
			other.heard = now
		}
	}
}

// names returns the gateways that were there within [memory], and have not said that they end.
func (m *members) names(now time.Time) (ids []ids.GatewayID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, other := range m.all {
		if !other.gone && now.Sub(other.heard) < memory {
			ids = append(ids, id)
		}
	}
	return ids
}

// ended reports whether a gateway has said that it ends.
func (m *members) ended(id ids.GatewayID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.all[id]
	return known != nil && known.gone
}

// gone notes that a gateway has ended.
func (m *members) gone(id ids.GatewayID, words map[digest]struct{}, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[id] = &member{heard: now, gone: true, words: words}
}

// witnesses are the gateways that have to be asked about a call which was sent then. Those that have ended are asked here:
// maybe reports whether one of them may have seen it.
func (m *members) witnesses(call digest, sent, now time.Time) (ask []ids.GatewayID, maybe bool) {
	if now.Sub(m.since) < acquainted {
		return nil, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, other := range m.all {
		switch {
		case !other.gone && other.heard.After(sent.Add(-memory)):
			ask = append(ask, id)
		case other.gone && other.heard.After(sent):
			_, saw := other.words[call]
			maybe = maybe || saw || other.words == nil || other.heard.Sub(sent) > horizon-transit
		}
	}
	return ask, maybe
}
