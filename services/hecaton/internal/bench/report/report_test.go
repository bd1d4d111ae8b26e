package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/runs"
)

var update = flag.Bool("update", false, "write the golden files")

const ms = Seconds(time.Millisecond)

func latency(n uint64, worst Seconds) Latency {
	return Latency{n, worst / 10, worst / 12, worst / 4, worst / 2, worst * 9 / 10, worst}
}

func calls(n int, worst Seconds) Calls {
	return Calls{Ended: n, Answered: n, PerSecond: float64(n) / 30, Latency: map[string]Latency{"answered": latency(uint64(n), worst), "all": latency(uint64(n), worst)}}
}

// thirty are the seconds of a load in which something goes wrong from 10 to 13 s.
func thirty() (all []Second) {
	for i := range 30 {
		s := Second{Begun: 500, Answered: 500, P50: 2 * ms, P99: 9 * ms, Max: Seconds(12+i) * ms}
		if i >= 10 && i < 13 {
			s = Second{Begun: 500, Answered: 120, Refused: 40, Unknown: 2 * (12 - i), Reconnected: 30, P50: 300 * ms, P99: 4000 * ms, Max: 5500 * ms}
		}
		if i == 20 {
			s = Second{}
		}
		all = append(all, s)
	}
	return all
}

// calm is the report of a load to which nothing happened.
func calm() *Report {
	return &Report{
		Passed: true, Seed: 42, Began: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Took: 30000 * ms,
		Load:  Load{Servers: []string{"http://127.0.0.1:8080"}, Users: 40, Nodes: 200, Callers: 50, Payload: "200", Answer: "200", Think: "0s"},
		Calls: calls(14500, 41*ms), Ledger: ledger.Balance{Sent: 14500, Answered: 14500, Executed: 14500},
		Nodes: Nodes{Count: 200, Up: 200, FewestUp: 200, Connecting: latency(200, 120*ms)}, Timeline: thirty()[:8],
	}
}

// broken is the report of a load to which everything happened.
func broken() *Report {
	r := calm()
	r.Passed, r.Problems = false, []string{"calls executed twice: 1", "gateway <drained> & gone is said to be lossless, and 3 calls were not answered"}
	r.Stopped = `received the signal "interrupt"`
	r.Load = Load{
		Servers: []string{"http://a:1", "http://b:2"}, GRPC: []string{"a:9080"}, Embedded: true, Users: 1000, Nodes: 5000, Callers: 500, Rate: 2500,
		Payload: "200,64KiB:0.05", Answer: "1KiB", Think: "0s-20ms", Churn: 2.5, Slow: 3, Runs: 10,
	}
	r.Calls.NotDelivered, r.Calls.Unknown, r.Calls.Retried = 3, 6, 117
	r.Calls.Refusals, r.Calls.GivenUp, r.Calls.Unknowns = map[string]int{"DRAINING": 20, "NODE_NOT_CONNECTED": 1100}, map[string]int{"NODE_BUSY": 3}, map[string]int{"HOLDER_LOST": 4, "CONNECTION_LOST": 2}
	r.Calls.Latency["unknown"], r.Calls.Latency["not_delivered"] = latency(6, 5500*ms), latency(3, 61000*ms)
	r.Ledger = ledger.Balance{
		Sent: 14510, Answered: 14500, NotDelivered: 3, Unknown: 6, Open: 1, Executed: 14504, UnknownExecuted: 4, Faults: map[ledger.Fault]int{ledger.Twice: 1},
		Findings: []ledger.Finding{{Fault: ledger.Twice, Number: 17, Text: "call 17 was executed 2 times, under one call id: its frame was delivered twice"}},
	}
	r.Steps = &ledger.Balance{Sent: 600, Answered: 598, Unknown: 1, NotDelivered: 1, Executed: 598}
	r.Runs = &Runs{
		Ended: 300, Finishes: map[string]int{"stop": 299, "unfinished": 1}, Steps: map[string]int{"answered": 598, "unknown": 1, runs.NotReached: 1}, Repeated: 4, Resumed: 9,
		Took: latency(300, 7000*ms), Broken: 1, Problems: []runs.Problem{{Run: 8, Text: "event 7 (text) comes after 5"}}, Remarks: []runs.Problem{{Run: 9, Text: "it stopped after 1 of 2 calls: no tool"}},
	}
	r.Slow = &Slow{Clients: 3, Cut: 12, Took: latency(12, 4100*ms), Kept: 1}
	r.Nodes = Nodes{
		Count: 5000, Up: 4999, FewestUp: 2500, Left: 75, Lost: map[string]int{"closed with 1012": 2400, "connection lost": 100}, SentAway: 1,
		Failed: map[string]int{"HTTP 503": 12}, Reconnected: 2574, PeakPerSecond: 611, Connecting: latency(5000, 2100*ms), Away: latency(2574, 9000*ms),
	}
	fault := func(name string, from, to Seconds, lossless bool) Fault {
		f := Fault{Name: name, Kind: "gateway", Lossless: lossless, From: from, To: to, Calls: calls(1500, 5500*ms), Runs: r.Runs}
		f.Marks = []Mark{{"do", from}, {"hold", from + 100*ms}, {"undo", from + 2000*ms}, {"settle", from + 2200*ms}}
		return f
	}
	c := fault("", 0, 30000*ms, false)
	r.Calm = &c
	r.Faults = []Fault{fault("gateway killed", 9800*ms, 15000*ms, false), fault("gateway <drained> & gone", 18000*ms, 24000*ms, true)}
	r.Faults[0].Calls.Unknown, r.Faults[0].Calls.Unknowns, r.Faults[0].Calls.Refusals = 6, r.Calls.Unknowns, map[string]int{"NODE_NOT_CONNECTED": 1100}
	r.Faults[0].Trouble, r.Faults[0].Twice, r.Faults[0].StepsTwice = 3100*ms, 1, 0
	r.Faults[1].Calls.NotDelivered, r.Faults[1].Calls.GivenUp = 3, r.Calls.GivenUp
	r.Timeline = thirty()
	return r
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Report{"calm": calm(), "broken": broken()} {
		raw, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for ext, got := range map[string][]byte{".txt": []byte(r.Text()), ".json": raw, ".svg": r.SVG()} {
			path := filepath.Join("testdata", name+ext)
			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what it was (go test -update writes it): %v\n%s", path, err, got)
			}
		}
	}
}

// The JSON can be read again, durations being seconds.
func TestJSON(t *testing.T) {
	t.Parallel()
	raw, err := broken().JSON()
	var got struct {
		Passed bool
		Took   float64 `json:"took_seconds"`
		Faults []struct {
			Name  string
			Again float64 `json:"answered_again_after_seconds"`
			Calls struct{ Unknown int }
		}
		Ledger struct {
			Sent   int
			Faults map[string]int
		}
	}
	if err := errors.Join(err, json.Unmarshal(raw, &got)); err != nil {
		t.Fatal(err)
	}
	if got.Passed || got.Took != 30 || len(got.Faults) != 2 || got.Faults[0].Again != 3.1 || got.Faults[0].Calls.Unknown != 6 || got.Ledger.Sent != 14510 || got.Ledger.Faults["executed twice"] != 1 {
		t.Errorf("%+v", got)
	}
}

// shape is what an SVG consists of.
type shape struct {
	elements map[string]int
	classes  map[string]int
	text     string
}

// parseSVG fails where the picture is no XML, or needs anything from elsewhere.
func parseSVG(t *testing.T, raw []byte) shape {
	t.Helper()
	s := shape{map[string]int{}, map[string]int{}, ""}
	dec := xml.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				t.Error("it is not whole")
			}
			return s
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			s.elements[token.Name.Local]++
			for _, a := range token.Attr {
				if a.Name.Local == "class" {
					for class := range strings.FieldsSeq(a.Value) {
						s.classes[class]++
					}
				}
				if strings.Contains(a.Name.Local, "href") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s=%s", a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			s.text += string(token) + "\n"
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	s := parseSVG(t, broken().SVG())
	// The second in which no call began divides each of the lines.
	for class, want := range map[string]int{"p50": 3, "p99": 3, "max": 3, "fault": 2, "held": 3, "refused": 4, "unknown": 3} {
		if s.classes[class] != want {
			t.Errorf("%d elements of class %s, want %d", s.classes[class], class, want)
		}
	}
	for _, text := range []string{"gateway <drained> & gone", "1  gateway killed: 1,500 calls", "10 s", "1 ms", "prefers-color-scheme: dark", "500/s"} {
		if !strings.Contains(s.text, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	if s.elements["svg"] != 1 || s.elements["title"] < 1 || s.elements["desc"] != 1 || s.elements["image"]+s.elements["script"] != 0 {
		t.Errorf("%v", s.elements)
	}
}

// However little or much there is to draw, it is a picture.
func TestChartsOfAnyLength(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 71, 72, 73, 899, 5000, 40000} {
		r := broken()
		r.Timeline = nil
		for len(r.Timeline) < n {
			r.Timeline = append(r.Timeline, thirty()...)
		}
		r.Timeline = r.Timeline[:n]
		parseSVG(t, r.SVG())
		for line := range strings.Lines(r.Chart()) {
			if w := len([]rune(line)); w > 110 {
				t.Errorf("%d seconds: a line has %d characters: %s", n, w, line)
			}
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", 999: "1.00 µs", 12345: "12.3 µs", 1234567: "1.23 ms", 123456789: "123 ms", 1500 * time.Millisecond: "1.50 s", 90 * time.Second: "90.0 s", 200 * time.Second: "200 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 12: "12", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := number(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
	if got := counts(map[string]int{"B": 2, "A": 2, "C": 1000, "D": 0}); got != "C 1,000, A 2, B 2" {
		t.Error(got)
	}
}
