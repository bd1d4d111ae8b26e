package plan

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sizes(t *testing.T, text string) (s Sizes) {
	t.Helper()
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

func spec(t *testing.T, seed uint64) Spec {
	t.Helper()
	return Spec{
		Seed: seed, Users: 7, Nodes: 40, Payload: sizes(t, "200,64KiB:0.05"), Answer: sizes(t, "1KiB"),
		Think: Span{0, 20 * time.Millisecond}, Churn: 3,
	}
}

// all is everything that a plan says about its first things.
func all(p *Plan) string {
	var b strings.Builder
	for i := range p.Nodes {
		fmt.Fprintln(&b, p.Node(i))
	}
	for n := range int64(500) {
		at, node, away := p.Leaving(n)
		fmt.Fprintln(&b, p.Call(n), p.Run(n), at, node, away, p.Slow(int(n)), string(p.Data(n, 50)))
	}
	return b.String()
}

func TestTheSameSeedGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	one, two, other := New(spec(t, 5)), New(spec(t, 5)), New(spec(t, 6))
	if all(one) != all(two) {
		t.Error("one seed, two plans")
	}
	if all(one) == all(other) {
		t.Error("two seeds, one plan")
	}
	// The number alone decides, not who asked for what before.
	late := New(spec(t, 5))
	for n := int64(499); n >= 0; n-- {
		if !reflect.DeepEqual(late.Call(n), one.Call(n)) || !reflect.DeepEqual(late.Run(n), one.Run(n)) {
			t.Fatalf("%d is another one when asked for in another order", n)
		}
	}
}

func TestAPlanIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	p := New(spec(t, 1))
	perUser, ids := map[string]int{}, map[Node]bool{}
	for i := range p.Nodes {
		perUser[p.Node(i).User]++
		ids[p.Node(i)] = true
	}
	if len(perUser) != 7 || len(ids) != 40 || perUser[p.User(0)] != 6 || perUser[p.User(6)] != 5 {
		t.Errorf("%v", perUser)
	}
	large, called, approved, steps := 0, map[int]int{}, 0, map[int]int{}
	const calls = 20000
	for n := range int64(calls) {
		c := p.Call(n)
		called[c.Node]++
		if c.Payload == 64<<10 {
			large++
		} else if c.Payload != 200 {
			t.Fatal(c)
		}
		if c.Answer != 1024 || c.Think < 0 || c.Think > 20*time.Millisecond {
			t.Fatal(c)
		}
		r := p.Run(n)
		steps[len(r.Steps)]++
		if r.Approve {
			approved++
		}
	}
	if share := float64(large) / calls; math.Abs(share-0.05) > 0.01 {
		t.Errorf("%g of the payloads are large", share)
	}
	for i := range p.Nodes {
		if share := float64(called[i]) / calls; math.Abs(share-1.0/40) > 0.01 {
			t.Errorf("node %d gets %g of the calls", i, share)
		}
	}
	if approved != calls/4 || len(steps) != MaxSteps || steps[1] < calls/4 || steps[MaxSteps] < calls/4 {
		t.Errorf("%d of the runs need approval; steps %v", approved, steps)
	}
	for n := range int64(300) {
		at, node, away := p.Leaving(n)
		if from := time.Duration(n) * time.Second / 3; at < from-time.Microsecond || at > from+time.Second/3+time.Microsecond || node < 0 || node >= 40 || away < 0 || away >= time.Second {
			t.Fatal(n, at, node, away)
		}
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	p := New(spec(t, 1))
	for _, size := range []int{0, 1, 1000, blockSize, 3*blockSize + 5} {
		for _, n := range []int64{0, 1, 33, 1 << 40} {
			d := p.Data(n, size)
			if len(d) != size || strings.ContainsAny(string(d), "\"\\ \n") {
				t.Errorf("data of %d, %d bytes: %d", n, size, len(d))
			}
		}
	}
	if string(p.Data(1, 30)) == string(p.Data(2, 30)) {
		t.Error("two calls carry the same")
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{
		"200": {1}, "200,64KiB:0.05": {0.95, 1}, "1:0.5,2:0.5": {0.5, 1}, " 1 , 2 , 3:0.5": {0.25, 0.5, 1}, "1:0.1,2:0.2,3:0.7": {0.1, 0.3, 1},
	} {
		s := sizes(t, text)
		for i := range want {
			if len(s.shares) != len(want) || math.Abs(s.shares[i]-want[i]) > 1e-6 {
				t.Errorf("%s: %v, want %v", text, s.shares, want)
			}
		}
		if again, err := s.MarshalText(); err != nil || string(again) != text || s.String() != text {
			t.Errorf("%s became %s", text, again)
		}
	}
	for text, want := range map[string]string{
		"": "not a size", "x": "not a size", "1,": "not a size", "20MiB": "fit into a frame", "1:2": "a share", "1:x": "a share",
		"1:0.5": "make 0.5, not 1", "1:0.7,2:0.7": "make 1.4, not 1", "1,2:0.7,3:0.7": "not 1", "-1": "out of range",
	} {
		if err := new(Sizes).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Span{"0-20ms": {0, 20 * time.Millisecond}, "5ms": {5 * time.Millisecond, 5 * time.Millisecond}, "0": {}, "1s-1s": {time.Second, time.Second}} {
		var s Span
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
		var again Span
		raw, _ := s.MarshalText()
		if err := again.UnmarshalText(raw); err != nil || again != s {
			t.Errorf("%s became %s", text, raw)
		}
	}
	for _, text := range []string{"", "x", "5", "20ms-0", "-5ms", "1ms-", "1ms-x"} {
		if err := new(Span).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
