package ledger

import (
	"hash/maphash"
	"sync"
)

// Ledger records the calls, numbered from 0. It is safe for concurrent use.
type Ledger struct {
	// Static after construction. name says what an entry is, in findings.
	name string
	seed maphash.Seed

	mu      sync.Mutex
	entries []entry
	found   findings
}

// entry is what both ends know of one call.
type entry struct {
	call     uint64 // a hash of the id under which it was executed first
	node     int32  // whom it is for
	class    Class
	sent     bool
	executed uint8 // how often; 255 for more
	part     uint16
}

// New returns an empty book of calls, or of whatever name says they are.
func New(name string) *Ledger {
	return &Ledger{name: name, seed: maphash.MakeSeed(), found: findings{counts: map[Fault]int{}}}
}

// at returns the entry of a number. mu must be held.
func (l *Ledger) at(n int64) *entry {
	if missing := n + 1 - int64(len(l.entries)); missing > 0 {
		l.entries = append(l.entries, make([]entry, missing)...)
	}
	return &l.entries[n]
}

// Send notes that call n is about to be made, to the node of this index.
func (l *Ledger) Send(n int64, node int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.at(n)
	e.sent, e.node = true, int32(node)
}

// Execute records that a node received call n with this id; intact says that it arrived unchanged. It returns false for a
// number that was never sent.
func (l *Ledger) Execute(n int64, node int, id string, intact bool) bool {
	call := maphash.String(l.seed, id)
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 0 || n >= int64(len(l.entries)) || !l.entries[n].sent {
		l.found.add(Strange, n, "a node was given %s %d, which nobody has made", l.name, n)
		return false
	}
	e := &l.entries[n]
	e.executed = uint8(min(int(e.executed)+1, 255))
	switch {
	case e.executed == 1:
		e.call = call
	case e.call == call:
		l.found.add(Twice, n, "%s %d was executed %d times, under one call id: its frame was delivered twice", l.name, n, e.executed)
	default:
		l.found.add(Twice, n, "%s %d was executed %d times, under several call ids: an attempt that ended as not delivered was", l.name, n, e.executed)
	}
	if int32(node) != e.node {
		l.found.add(Misdirected, n, "%s %d was for node %d and came to node %d", l.name, n, e.node, node)
	}
	if !intact {
		l.found.add(Corrupted, n, "%s %d did not reach its node as it was sent", l.name, n)
	}
	return true
}

// End records how call n ended for its caller; own says that the answer was the one to this call. part is the part of the
// load to which the call belongs.
func (l *Ledger) End(n int64, class Class, own bool, part int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.at(n)
	e.class, e.part = class, uint16(part)
	if class == Answered && !own {
		l.found.add(Foreign, n, "%s %d was answered with what is not its answer", l.name, n)
	}
}

// Executed returns how often nodes were given call n so far.
func (l *Ledger) Executed(n int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 0 || n >= int64(len(l.entries)) {
		return 0
	}
	return int(l.entries[n].executed)
}
