package agentfaults_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// What was approved runs where it was shown, or nowhere: the approval comes when its node is not what it was.
func TestNodeChangesBeforeTheApproval(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database})
		for name, change := range map[string]struct {
			change func(u *user, session string)
			asks   bool // again, since nobody can tell that it is the same device
			why    string
		}{
			"gone": {why: "NODE_NOT_CONNECTED", change: func(u *user, _ string) {
				u.node.Cut()
			}},
			"replaced by another device with its id": {why: "another device answers", change: func(u *user, _ string) {
				u.node.Cut()
				u.node = u.Gateways[1].Extension(u, u.name, "chrome")
				u.node.Register(device("another"))
			}},
			"superseded by another device with its id": {why: "another device answers", change: func(u *user, _ string) {
				old := u.node
				u.node = u.Gateways[1].Extension(u, u.name, "chrome")
				u.node.Register(device("another"))
				old.Ended()
			}},
			"replaced by one that does not say what it is": {why: "not delivered", change: func(u *user, _ string) {
				u.node.Cut()
				u.node = u.Gateways[1].Extension(u, u.name, "chrome")
				u.node.Silent()
			}},
			"replaced by another kind of node with its id": {why: "another device answers", change: func(u *user, _ string) {
				u.node.Cut()
				u.node = u.Gateways[1].Desktop(u, u.name, "chrome")
				u.node.Register(device("laptop"))
			}},
			"not the session's any more": {why: "bound to another node", change: func(u *user, session string) {
				other := u.Gateways[1].Extension(u, u.name, "firefox")
				other.Register(device("laptop"))
				other.Serve(u.ledger.See)
				r := u.Gateways[1].Post(u, "/api/node/bind", u.name, marshal(u, map[string]any{"session_id": session, "node_id": "firefox"}))
				if r.Status != 200 {
					u.Fatalf("bind: %d %s", r.Status, r.Raw)
				}
			}},
			"back at another gateway": {asks: true, change: func(u *user, _ string) {
				u.node.Cut()
				u.node = u.Gateways[1].Extension(u, u.name, "chrome")
				u.node.Register(device("laptop"))
			}},
			"superseded by another device that says the same of itself": {asks: true, change: func(u *user, _ string) {
				old := u.node
				u.node = u.Gateways[1].Extension(u, u.name, "chrome")
				u.node.Register(device("laptop"))
				old.Ended()
			}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u := w.join(t, strings.ReplaceAll(name, " ", "-"), each("pay", 1), modeltest.Say("done"))
				s := u.invoke(w.Gateways[0])
				calls := u.interrupted(s)
				change.change(u, s.Session)
				if u.node.Open() {
					u.serve()
				}
				yes := w.Gateways[1].Resume(t, u.name, u.decision(s.Session, "approved", calls))
				if change.asks {
					again := u.interrupted(yes)
					if len(again) != 1 || again[0].ID != calls[0].ID || again[0].Digest == calls[0].Digest {
						t.Errorf("asked about %v, then about %v", calls, again)
					}
					u.wantResults(yes, map[string]string{})
					u.ledger.Once(t)
					if r := w.Gateways[0].Post(t, "/api/agent/resume", u.name, marshal(t, u.decision(s.Session, "approved", calls))); r.Status != 422 {
						t.Errorf("the first approval once more: %d %s", r.Status, r.Raw)
					}
					yes = w.Gateways[0].Resume(t, u.name, u.decision(s.Session, "approved", again))
					u.ends(yes, "stop")
					u.wantSaid(yes, "done")
					u.wantResults(yes, map[string]string{"call_0": "1"})
					u.ledger.Once(t, 1)
					return
				}
				u.ends(yes, "stop")
				u.wantSaid(yes, "done")
				u.wantResults(yes, map[string]string{"call_0": "not_delivered"})
				if told := u.told(); !strings.Contains(told, change.why) || !strings.Contains(told, "It did not run") {
					t.Errorf("the model was told %q", told)
				}
				u.ledger.Once(t)
			})
		}
	})
}

// A node vanishes while it works on a call, and comes back: the call may have run, the next one does.
func TestANodeVanishesDuringACall(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	u := w.join(t, "ana", each("click", 1, 2), modeltest.Say("done"))
	s := u.invoke(w.Gateways[1])
	call := u.hold()
	u.node.Cut()
	u.node = w.Gateways[1].Extension(t, u.name, "chrome")
	u.node.Send(`{"type":"register",` + device("laptop") + `}`) // the next call may come before the answer
	u.answer(call)                                              // which this connection was not asked
	u.serve()
	u.ends(s, "stop")
	u.wantResults(s, map[string]string{"call_0": "unknown", "call_1": "2"})
	if told := fmt.Sprint(u.asked()[1].Messages); !strings.Contains(told, "may have run; it was not run again") {
		t.Errorf("the model was told %s", told)
	}
	u.ledger.Once(t, 1, 2)
}
