package live

import (
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

func TestInterest(t *testing.T) {
	t.Parallel()
	i := newInterest()
	quiet, loud := store.Ref{User: "ana", Session: "quiet"}, store.Ref{User: "ana", Session: "loud"}
	if i.wanted(loud) || i.announced(quiet) || !i.announced(loud) || i.announced(loud) {
		t.Error("it does not know where events were kept back")
	}
	for range forgetAfter {
		if !i.wanted(loud) || !i.wanted(quiet) {
			t.Fatal("it has forgotten who follows")
		}
		i.nextRound()
	}
	i.announced(quiet)
	i.nextRound()
	if i.wanted(loud) || !i.wanted(quiet) {
		t.Error("only what was not announced again is forgotten")
	}
	i.nextRound()
	if !i.announced(loud) {
		t.Error("it does not know that events were kept back in the round before")
	}
}

func FuzzAnnouncement(f *testing.F) {
	many := make([]store.Ref, 5000)
	for i := range many {
		many[i] = store.Ref{User: "a.na", Session: "session_0123456789ab"}
	}
	if n := len(announcements(many)); n < 2 {
		f.Errorf("%d messages of many sessions", n)
	}
	f.Add(announcements(many[:2])[0])
	f.Add([]byte{})
	f.Add([]byte{1, 'a'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		refs, err := readAnnouncement(in)
		if err != nil {
			return
		}
		var again []store.Ref
		for _, m := range announcements(refs) {
			part, err := readAnnouncement(m)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, part...)
		}
		if !slices.Equal(refs, again) {
			t.Fatalf("%d sessions became %d", len(refs), len(again))
		}
	})
}
