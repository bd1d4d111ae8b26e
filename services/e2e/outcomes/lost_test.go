package outcomes_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// disconnect runs a call, ends its node's socket, and returns how long after that the caller heard; and how long a call
// to the node took before, which is what the machine makes of some microseconds.
func disconnect(t *testing.T, holder, entry *cluster.Gateway, w cluster.Way, user string) (heard, usual time.Duration) {
	t.Helper()
	n := node(t, holder, user, "n")
	end := begin(t.Context(), w, entry, call(user, "n", time.Minute))
	n.Answer(n.Call(), cluster.Text("here"))
	usual = ended(t, end).Took
	end = begin(t.Context(), w, entry, call(user, "n", time.Minute))
	n.Call()
	dropped := time.Now()
	n.Cut()
	got := ended(t, end)
	heard = time.Since(dropped)
	expect(t, w.Name, got, "NODE_DISCONNECTED")
	return heard, usual
}

// Not parallel, so that this package at least leaves the machine alone; and the median of several, since others may hold
// up any one of them.
func TestACallWhoseSocketDropsEndsWithinATenthOfASecond(t *testing.T) {
	c := cluster.Start(t, cluster.Options{})
	for i, entry := range c.Gateways {
		var heard, usual []time.Duration
		for round := range 12 {
			w := cluster.Ways[round%len(cluster.Ways)]
			h, u := disconnect(t, c.Gateways[0], entry, w, "u"+strconv.Itoa(i)+"-"+strconv.Itoa(round))
			heard, usual = append(heard, h), append(usual, u)
		}
		slices.Sort(heard)
		slices.Sort(usual)
		if limit := 100*time.Millisecond + 2*usual[6]; heard[6] > limit {
			t.Errorf("through gateway %d callers heard after %v, where calls take %v", i, heard, usual)
		}
	}
}

func TestCallsThatWaitedForADisconnectedNodeWereNotDelivered(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	for name, end := range map[string]func(*cluster.Client){
		"a socket that drops":          (*cluster.Client).Cut,
		"a node that says goodbye":     (*cluster.Client).Close,
		"a node that breaks the rules": func(n *cluster.Client) { n.Send(string(make([]byte, 10<<20+1))) },
	} {
		t.Run(name, func(t *testing.T) {
			n := node(t, c.Gateways[0], name, "n")
			n.Register(`"max_concurrent_tasks":2`)
			var running, waiting []<-chan cluster.Ended
			for i := range 2 {
				running = append(running, begin(t.Context(), unary(), c.Gateways[i], call(name, "n", time.Minute)))
			}
			n.Call()
			n.Call()
			for i := range 8 {
				waiting = append(waiting, begin(t.Context(), cluster.Ways[i%4], c.Gateways[i/4], call(name, "n", time.Minute)))
			}
			open(t, c.Gateways[0], 10)
			end(n)
			for _, e := range running {
				expect(t, "a call that ran", ended(t, e), "NODE_DISCONNECTED")
			}
			for i, e := range waiting {
				expect(t, "waiting call "+strconv.Itoa(i), ended(t, e), "NODE_NOT_CONNECTED")
			}
		})
	}
}

func TestCallersHearWithinSixSecondsThatAHolderWasKilled(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	holder, process := c.StartGatewayProcess()
	n := node(t, holder, "u", "n")
	n.Register(`"max_concurrent_tasks":4`)
	var ends []<-chan cluster.Ended
	for _, w := range cluster.Ways {
		ends = append(ends, begin(t.Context(), w, c.Gateways[0], call("u", "n", time.Minute)))
		n.Call()
	}
	waiting := begin(t.Context(), unary(), c.Gateways[0], call("u", "n", time.Minute))
	open(t, holder, 5)
	killed := time.Now()
	process.Kill()
	for i, end := range append(ends, waiting) {
		got := ended(t, end)
		expect(t, "call "+strconv.Itoa(i), got, "HOLDER_LOST")
		if after := time.Since(killed); after > 6*time.Second {
			t.Errorf("call %d heard after %v", i, after)
		}
	}
	expect(t, "the next call", unary().Call(t.Context(), c.Gateways[0], call("u", "n", time.Minute)), "NODE_NOT_CONNECTED")
	// The node comes back where there is somebody.
	n = node(t, c.Gateways[0], "u", "n")
	n.Serve(func(cluster.ToolCall) string { return cluster.Text("back") })
	answered(t, "after the node came back", unary().Call(t.Context(), c.Gateways[0], call("u", "n", time.Minute)))
}
