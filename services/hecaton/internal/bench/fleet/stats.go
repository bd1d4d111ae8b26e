package fleet

import (
	"maps"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// Stats are what happened to the connections of a fleet.
type Stats struct {
	// Nodes is how many there are, Up how many are connected.
	Nodes, Up int
	// FewestUp is the smallest number of nodes that were connected at one time, counted from when all were.
	FewestUp int
	// Left is how many connections nodes ended by themselves (churn).
	Left int
	// Lost is how many connections ended otherwise, by cause; SentAway is how many of them had a close code that tells a
	// program not to reconnect.
	Lost     map[string]int
	SentAway int
	// Failed is how many attempts to connect failed, by cause.
	Failed map[string]int
	// Reconnected is how many connections were made after the first one of each node.
	Reconnected int
	// Connecting is how long the first connections took, Back how long nodes were away, pauses included.
	Connecting, Back load.Histogram

	connected   int // nodes that have been
	forbidden   error
	lastProblem string
}

func newStats() Stats { return Stats{Lost: map[string]int{}, Failed: map[string]int{}} }

// Stats returns what happened so far.
func (f *Fleet) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.Nodes, s.Up = len(f.nodes), f.Up()
	s.Lost, s.Failed = maps.Clone(s.Lost), maps.Clone(s.Failed)
	s.Connecting, s.Back = load.Histogram{}, load.Histogram{}
	s.Connecting.Merge(&f.stats.Connecting)
	s.Back.Merge(&f.stats.Back)
	return s
}

// arrived records that a node is connected, after it has taken this long; first says that it is its first connection.
func (f *Fleet) arrived(first bool, took time.Duration) {
	up := int(f.up.Add(1))
	now := time.Now()
	f.mu.Lock()
	if first {
		f.stats.Connecting.Add(took)
		if f.stats.connected++; f.stats.connected == len(f.nodes) {
			f.stats.FewestUp = up
			close(f.whole)
		}
	} else {
		f.stats.Reconnected++
		f.stats.Back.Add(took)
	}
	each := f.reconnected
	f.mu.Unlock()
	if !first && each != nil {
		each(now)
	}
}

// lost notes the end of a connection; left says that the node ended it.
func (f *Fleet) lost(left bool, c cause) {
	up := int(f.up.Add(-1))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.FewestUp = min(f.stats.FewestUp, up)
	if left {
		f.stats.Left++
		return
	}
	f.stats.Lost[c.name]++
	if c.final {
		f.stats.SentAway++
	}
}

// failed notes an attempt to connect that failed.
func (f *Fleet) failed(c cause, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Failed[c.name]++
	f.stats.lastProblem = err.Error()
	if c.hopeless && f.stats.connected < len(f.nodes) {
		f.stats.forbidden = err
	}
}
