package timeline

import (
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return zero.Add(time.Duration(seconds * float64(time.Second))) }

func answered(from, to float64, refusals ...string) Call {
	return Call{From: at(from), To: at(to), End: ledger.End{Class: ledger.Answered}, Refusals: refusals}
}

// faulty is a recorder of a load with faults from 10 to 20 s and from 30 s on.
func faulty() *Recorder {
	r := New(zero)
	r.Enter("a", at(10))
	r.Mark("do", at(10))
	r.Leave(at(20))
	r.Enter("b", at(30))
	return r
}

func TestACallBelongsToTheFirstFaultThatItMeets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, to float64
		part     int
	}{
		"before":                  {1, 2, 0},
		"in flight at the fault":  {9.9, 10.1, 1},
		"in it":                   {12, 13, 1},
		"hung beyond its end":     {15, 25, 1},
		"hung into the next one":  {15, 35, 1},
		"around it":               {5, 25, 1},
		"between":                 {22, 23, 0},
		"ends as it begins":       {9, 10, 0},
		"begins as it ends":       {20, 21, 0},
		"in one that goes on":     {40, 41, 2},
		"into one that goes on":   {25, 31, 2},
		"around everything there": {1, 100, 1},
	} {
		r := faulty()
		if part := r.Call(answered(tt.from, tt.to)); part != tt.part {
			t.Errorf("%s: part %d, want %d", name, part, tt.part)
		}
		if part := r.PartOf(at(tt.from), at(tt.to)); part != tt.part {
			t.Errorf("%s: part %d, want %d", name, part, tt.part)
		}
	}
}

// One fault follows on the other: what is in flight then belongs to the second.
func TestACallInFlightAtTheNextFaultBelongsToThat(t *testing.T) {
	t.Parallel()
	r := New(zero)
	r.Enter("a", at(10))
	r.Leave(at(20))
	r.Enter("b", at(20))
	r.Leave(at(30))
	for name, tt := range map[string]struct {
		from, to float64
		part     int
	}{
		"in the last moment of a":           {19.8, 19.9, 1},
		"in flight at b":                    {19.8, 20.1, 2},
		"in flight at b, and long":          {19.8, 40, 2},
		"hung since a":                      {19.4, 21, 1},
		"in the last moment of all":         {29.8, 29.9, 2},
		"in the last moment of all, beyond": {29.8, 31, 2},
	} {
		if part := r.PartOf(at(tt.from), at(tt.to)); part != tt.part {
			t.Errorf("%s: part %d, want %d", name, part, tt.part)
		}
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	r := faulty()
	r.Call(answered(0.1, 0.2))
	r.Call(answered(11, 11.5, "DRAINING", "DRAINING"))
	r.Call(answered(12, 12.1))
	r.Call(Call{From: at(13), To: at(15), End: ledger.End{Class: ledger.Unknown, Reason: "HOLDER_LOST"}})
	r.Call(Call{From: at(13), To: at(14), End: ledger.End{Class: ledger.NotDelivered, Reason: "NODE_BUSY"}, Refusals: []string{"NODE_BUSY"}})
	r.Call(answered(31, 31.001))
	r.Reconnect(at(12.5))
	r.Reconnect(at(12.9))
	r.Run(Run{From: at(11), To: at(12), Finish: "stop", Resumed: 1, Refused: 2, Steps: map[string]int{"answered": 3}})
	r.Run(Run{From: at(1), To: at(2), Finish: "stop", Steps: map[string]int{"answered": 1}})
	s := r.Snapshot(at(33))
	all, a := s.All.Calls, s.Parts[1].Calls
	if all.Ended != 6 || all.Answered != 4 || all.Unknown != 1 || all.NotDelivered != 1 || all.Retried != 1 {
		t.Errorf("%+v", all)
	}
	if a.Ended != 4 || a.Answered != 2 || a.Retried != 1 || a.Refusals["DRAINING"] != 2 || a.Refusals["NODE_BUSY"] != 1 || a.GivenUp["NODE_BUSY"] != 1 || a.Unknowns["HOLDER_LOST"] != 1 || !a.TroubleUntil.Equal(at(15)) {
		t.Errorf("%+v", a)
	}
	if b := s.Parts[2]; b.Name != "b" || b.Calls.Answered != 1 || !b.Calls.TroubleUntil.IsZero() || !b.To.Equal(at(33)) {
		t.Errorf("%+v", b)
	}
	if s.Parts[1].Marks[0].Name != "do" || s.All.Runs.Ended != 2 || s.Parts[1].Runs.Resumed != 1 || s.All.Runs.Steps["answered"] != 4 || s.All.Runs.Refused != 2 {
		t.Errorf("%+v", s.Parts[1])
	}
	if len(s.Seconds) != 32 || s.Seconds[12].Reconnected != 2 || s.Seconds[13].Begun != 2 || s.Seconds[13].Max != 2*time.Second ||
		s.Seconds[15].Unknown != 1 || s.Seconds[14].Refused != 2 || s.Seconds[11].Refused != 2 || s.Seconds[0].Answered != 1 {
		t.Errorf("%+v", s.Seconds)
	}
}

// Slow calls are trouble although they are answered.
func TestTrouble(t *testing.T) {
	t.Parallel()
	r := faulty()
	r.Call(answered(11, 11.9))
	if s := r.Snapshot(at(33)); !s.Parts[1].Calls.TroubleUntil.IsZero() {
		t.Error("a fast call is trouble")
	}
	r.Call(answered(11, 12.1))
	if s := r.Snapshot(at(33)); !s.Parts[1].Calls.TroubleUntil.Equal(at(12.1)) {
		t.Error("a slow call is none")
	}
}

func TestNow(t *testing.T) {
	t.Parallel()
	r := New(zero)
	for i := range 30 {
		r.Call(answered(float64(i)/10, float64(i)/10+0.01))
	}
	r.Call(answered(0.2, 0.21, "DRAINING"))
	if n := r.Now(at(3.5)); n.Answered != 31 || n.Refused != 1 || n.PerSecond < 10 || n.PerSecond > 10.5 || n.P50 != 10*time.Millisecond || n.Fault != "" {
		t.Errorf("%+v", n)
	}
	r.Enter("a", at(10))
	r.Mark("hold", at(11))
	if n := r.Now(at(12)); n.Fault != "a" || n.Mark != "hold" || n.PerSecond != 0 {
		t.Errorf("%+v", n)
	}
	r.Leave(at(13))
	if n := r.Now(at(14)); n.Fault != "" {
		t.Errorf("%+v", n)
	}
}
