package ledger

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// book is a ledger in which one call of each kind went as it should.
func book() *Ledger {
	l := New("call")
	for n := range int64(5) {
		l.Send(n, int(n))
	}
	l.Execute(0, 0, "a", true)
	l.End(0, Answered, true, 0)
	l.End(1, NotDelivered, false, 1)
	l.End(2, Unknown, false, 1)
	l.Execute(3, 3, "d", true)
	l.End(3, Unknown, false, 1)
	return l
}

func TestALedgerReconciles(t *testing.T) {
	t.Parallel()
	b := book().Reconcile()
	if !b.Reconciles() || b.Sent != 5 || b.Answered != 1 || b.NotDelivered != 1 || b.Unknown != 2 || b.Open != 1 || b.Executed != 2 || b.UnknownExecuted != 1 || len(b.Findings) != 0 {
		t.Errorf("%+v", b)
	}
}

// Every promise, broken once, is found, named and told.
func TestBrokenPromisesAreFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		seed  func(*Ledger)
		fault Fault
		says  string
	}{
		"delivered twice":          {func(l *Ledger) { l.Execute(0, 0, "a", true) }, Twice, "call 0 was executed 2 times, under one call id"},
		"two attempts delivered":   {func(l *Ledger) { l.Execute(0, 0, "b", true) }, Twice, "call 0 was executed 2 times, under several call ids"},
		"twice, unknown":           {func(l *Ledger) { l.Execute(3, 3, "d", true) }, Twice, "call 3 was executed 2 times"},
		"twice before its end":     {func(l *Ledger) { l.Execute(4, 4, "x", true); l.Execute(4, 4, "y", true) }, Twice, "call 4 was executed 2 times"},
		"answered unseen":          {func(l *Ledger) { l.Send(5, 0); l.End(5, Answered, true, 0) }, Unexecuted, "call 5 was answered, and no node"},
		"another's answer":         {func(l *Ledger) { l.Send(5, 0); l.Execute(5, 0, "e", true); l.End(5, Answered, false, 0) }, Foreign, "call 5 was answered with what is not"},
		"not delivered, executed":  {func(l *Ledger) { l.Execute(1, 1, "b", true) }, Delivered, "call 1 ended as not delivered"},
		"at another node":          {func(l *Ledger) { l.Execute(4, 2, "e", true) }, Misdirected, "call 4 was for node 4 and came to node 2"},
		"changed":                  {func(l *Ledger) { l.Execute(4, 4, "e", false) }, Corrupted, "call 4 did not reach its node"},
		"made by nobody":           {func(l *Ledger) { l.Execute(7, 0, "z", true) }, Strange, "call 7, which nobody"},
		"made by nobody, negative": {func(l *Ledger) { l.Execute(-1, 0, "z", true) }, Strange, "call -1, which nobody"},
	} {
		l := book()
		tt.seed(l)
		b := l.Reconcile()
		if b.Reconciles() || len(b.Faults) != 1 || b.Faults[tt.fault] != 1 || len(b.Findings) != 1 || b.Findings[0].Fault != tt.fault || !strings.Contains(b.Findings[0].Text, tt.says) {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

func TestTwiceByPart(t *testing.T) {
	t.Parallel()
	l := book()
	l.Execute(3, 3, "x", true)
	l.Execute(3, 3, "x", true)
	if b := l.Reconcile(); b.TwiceByPart[1] != 1 || len(b.TwiceByPart) != 1 || b.Faults[Twice] != 2 {
		t.Errorf("%+v", b)
	}
}

func TestManyFindings(t *testing.T) {
	t.Parallel()
	l := New("step")
	for n := range int64(1000) {
		l.Send(n, 0)
		for range 300 {
			l.Execute(n, 0, fmt.Sprint(n), true)
		}
	}
	b := l.Reconcile()
	if b.Faults[Twice] != 1000*299 || len(b.Findings) != maxFindings || b.Executed != 1000 || l.Executed(5) != 255 || l.Executed(-1) != 0 || l.Executed(1000) != 0 {
		t.Errorf("%d findings of %v", len(b.Findings), b.Faults)
	}
}

func TestBothEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := New("call")
	var work sync.WaitGroup
	for w := range int64(8) {
		work.Go(func() {
			for n := w; n < 8000; n += 8 {
				l.Send(n, int(n))
				l.Execute(n, int(n), fmt.Sprint(n), true)
				l.End(n, Answered, true, 0)
			}
		})
	}
	work.Wait()
	if b := l.Reconcile(); !b.Reconciles() || b.Answered != 8000 || b.Executed != 8000 {
		t.Errorf("%+v", b)
	}
}
