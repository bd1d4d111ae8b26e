package witness

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// pods are witnesses on a bus of their own, which know each other.
func pods(t *testing.T, n int) []*Witness {
	t.Helper()
	url := testkit.OwnNATS(t).URL()
	all := make([]*Witness, n)
	for i := range all {
		b, err := bus.Connect(t.Context(), bus.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		all[i], err = New(Options{Gateway: ids.NewGatewayID("g"), Bus: b, Logger: obs.OrDiscard(nil)})
		if err != nil {
			t.Fatal(err)
		}
		all[i].members.since = time.Now().Add(-time.Hour)
	}
	for _, w := range all {
		if err := w.Bus.FlushTimeout(10 * time.Second); err != nil { // it is subscribed then
			t.Fatal(err)
		}
	}
	for _, w := range all {
		if err := w.Announce(); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range all {
		testkit.Eventually(t, 10*time.Second, func() bool { return len(w.members.names(time.Now())) == n-1 }, "the pods know each other")
	}
	return all
}

// lost is a call that was sent a moment ago.
func lost() Call {
	now := time.Now()
	return Call{ID: ids.NewCallID(), Sent: now.Add(-3 * time.Second), Deadline: now.Add(time.Minute)}
}

// unseen asks as a router does, with less patience.
func unseen(t *testing.T, w *Witness, calls ...Call) []bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	return w.Unseen(ctx, calls)
}

func want(t *testing.T, what string, got []bool, want ...bool) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: unseen is %v, want %v", what, got, want)
	}
}

func TestACallThatNobodyHasSeenNeverRuns(t *testing.T) {
	t.Parallel()
	w := pods(t, 3)
	calls := []Call{lost(), lost(), lost()}
	if !w[2].Take(calls[1].ID) {
		t.Error("a call is refused that nobody asked about")
	}
	want(t, "one of three was seen", unseen(t, w[0], calls...), true, false, true)
	for _, late := range []Call{calls[0], calls[2]} {
		if w[1].Take(late.ID) || w[2].Take(late.ID) {
			t.Error("a copy that comes late would run")
		}
	}
	want(t, "what was refused was not seen", unseen(t, w[0], calls...), true, false, true)
}

func TestAPodThatDoesNotAnswerMayHaveSeenIt(t *testing.T) {
	t.Parallel()
	w := pods(t, 3)
	w[2].Bus.Close() // without a last word
	want(t, "a pod was lost", unseen(t, w[0], lost()), false)

	for _, left := range w[:2] {
		left.members.mu.Lock()
		left.members.all[w[2].Gateway].heard = time.Now().Add(-memory - 4*time.Second)
		left.members.mu.Unlock()
	}
	want(t, "it was lost long before", unseen(t, w[0], lost()), true)
}

func TestAPodThatEndsSaysWhatItHasSeen(t *testing.T) {
	t.Parallel()
	w := pods(t, 3)
	seen, other := lost(), lost()
	w[2].Take(seen.ID)
	w[2].Close()
	testkit.Eventually(t, 10*time.Second, func() bool { return !slices.Contains(w[0].members.names(time.Now()), w[2].Gateway) }, "it says so")
	want(t, "it had seen one", unseen(t, w[0], seen, other), false, true)
	if w[1].Take(other.ID) {
		t.Error("a copy that comes late would run")
	}
	later := lost()
	later.Sent = time.Now()
	want(t, "one that was sent later", unseen(t, w[0], later), true)
}

// What came while the one who asks was off the bus is known to the others.
func TestAnUnknownPodIsMetThroughAnother(t *testing.T) {
	t.Parallel()
	w := pods(t, 3)
	w[0].members.mu.Lock()
	delete(w[0].members.all, w[2].Gateway)
	w[0].members.mu.Unlock()
	w[2].Bus.Close()
	want(t, "a pod that only the other knows", unseen(t, w[0], lost()), false)
}

func TestWhoCannotKnowSaysSo(t *testing.T) {
	t.Parallel()
	w := pods(t, 2)
	old := lost()
	old.Sent = time.Now().Add(-horizon)
	want(t, "a call of long ago", unseen(t, w[0], old, lost()), false, true)

	w[0].members.since = time.Now()
	want(t, "a pod that has just started", unseen(t, w[0], lost()), false)

	w[0].Bus.Close()
	w[0].members.since = time.Time{}
	want(t, "a pod without the bus", unseen(t, w[0], lost()), false)
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newSeen(now)
	first, refused := ids.NewCallID(), ids.NewCallID()
	s.take(first, now)
	s.deny([]question{{call: digestOf(refused), deadline: now.Add(time.Second)}}, now)
	for passed := generation; passed <= horizon; passed += generation {
		if s.take(ids.NewCallID(), now.Add(passed)); !s.has(digestOf(first)) {
			t.Errorf("forgotten after %s", passed)
		}
		if s.take(refused, now.Add(passed)) {
			t.Errorf("not refused any more after %s", passed)
		}
	}
	s.take(ids.NewCallID(), now.Add(horizon+generation))
	if s.has(digestOf(first)) || len(s.all()) != generations {
		t.Errorf("%d calls are remembered, want %d", len(s.all()), generations)
	}
	for i := range time.Duration(10) {
		s.take(ids.NewCallID(), now.Add(afterDeadline+i*generation))
	}
	if len(s.refused) != 0 {
		t.Error("a call is refused for ever")
	}
}

func BenchmarkTake(b *testing.B) {
	s, id := newSeen(time.Now()), ids.NewCallID()
	for b.Loop() {
		s.take(id, time.Now())
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x00\ngateway"), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if questions, err := parseQuestions(data); err == nil && len(questions) != len(data)/questionSize {
			t.Error("questions are lost")
		}
		if _, err := parseDigests(data); (err == nil) != (len(data)%digestSize == 0) {
			t.Error(err)
		}
		n &= 0xff
		if maybe, _, err := parseAnswer(data, n); err == nil && len(maybe) != n {
			t.Error("answers are lost")
		}
	})
}
