package ledger

import (
	"fmt"
	"maps"
	"slices"
)

// Fault is a promise that was broken.
type Fault string

// The faults.
const (
	Twice       Fault = "executed twice"
	Unexecuted  Fault = "answered, not executed"
	Foreign     Fault = "answered with another's answer"
	Delivered   Fault = "not delivered, yet executed"
	Misdirected Fault = "executed by another node"
	Corrupted   Fault = "changed on its way"
	Strange     Fault = "executed, never sent"
)

// Faults returns all of them, in the order of reports.
func Faults() []Fault {
	return []Fault{Twice, Unexecuted, Foreign, Delivered, Misdirected, Corrupted, Strange}
}

// Finding is one broken promise.
type Finding struct {
	Fault  Fault  `json:"fault"`
	Number int64  `json:"number"`
	Text   string `json:"text"`
}

// maxFindings is how many are told in full; all are counted.
const maxFindings = 50

// findings are the promises that were broken.
type findings struct {
	counts map[Fault]int
	list   []Finding
}

func (f *findings) add(fault Fault, n int64, format string, args ...any) {
	f.counts[fault]++
	if len(f.list) < maxFindings {
		f.list = append(f.list, Finding{fault, n, fmt.Sprintf(format, args...)})
	}
}

// Balance is what a reconciled ledger says.
type Balance struct {
	// What callers know.
	Sent         int `json:"sent"`
	Answered     int `json:"answered"`
	NotDelivered int `json:"not_delivered"`
	Unknown      int `json:"unknown"`
	// Open calls have not ended, which is no fault of the cluster: their callers were stopped.
	Open int `json:"open"`
	// What nodes know: how many calls were executed, and how many of those whose outcome is unknown.
	Executed        int `json:"executed"`
	UnknownExecuted int `json:"unknown_executed"`
	// Faults has what was broken, and how often; empty where the ledger reconciles.
	Faults   map[Fault]int `json:"faults"`
	Findings []Finding     `json:"findings"`
	// TwiceByPart is how many calls of each part were executed twice.
	TwiceByPart map[int]int `json:"-"`
}

// Reconciles reports whether nothing was broken.
func (b Balance) Reconciles() bool { return len(b.Faults) == 0 }

// Reconcile compares both ends. Neither may change meanwhile.
func (l *Ledger) Reconcile() Balance {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := Balance{TwiceByPart: map[int]int{}}
	found := findings{maps.Clone(l.found.counts), slices.Clone(l.found.list)}
	for n := range l.entries {
		e := &l.entries[n]
		if !e.sent {
			continue
		}
		b.count(e)
		switch {
		case e.class == Answered && e.executed == 0:
			found.add(Unexecuted, int64(n), "%s %d was answered, and no node has seen it", l.name, n)
		case e.class == NotDelivered && e.executed > 0:
			found.add(Delivered, int64(n), "%s %d ended as not delivered, and a node has executed it", l.name, n)
		}
	}
	b.Faults, b.Findings = found.counts, found.list
	return b
}

// count counts one call.
func (b *Balance) count(e *entry) {
	b.Sent++
	if e.executed > 0 {
		b.Executed++
	}
	if e.executed > 1 {
		b.TwiceByPart[int(e.part)]++
	}
	switch e.class {
	case Open:
		b.Open++
	case Answered:
		b.Answered++
	case NotDelivered:
		b.NotDelivered++
	case Unknown:
		b.Unknown++
		if e.executed > 0 {
			b.UnknownExecuted++
		}
	}
}
