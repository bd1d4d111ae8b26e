package router

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
)

// Nothing is heard of a call: what the other pods say decides what its caller hears.
func TestACallOfWhichNothingIsHeard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unseen, spoken bool
		want           errs.Reason
		asked          bool
	}{
		"nobody has seen it":    {unseen: true, want: errs.BusUnavailable, asked: true},
		"somebody may have":     {want: errs.HolderLost, asked: true},
		"its holder had spoken": {unseen: true, spoken: true, want: errs.HolderLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pod{unseen: c.unseen}
			r, b := newRouter(t, p)
			req := request(t, "there")
			req.Deadline = time.Now().Add(time.Minute)
			id := make(chan ids.CallID, 1)
			holder(t, b, ids.Node{User: req.User, Node: "there"}, bus.SuffixCall, func(m *nats.Msg) {
				sent, _ := envelope.ParseCall(m.Header)
				id <- sent.ID
				if c.spoken {
					_ = b.PublishMsg(envelope.Status(m.Reply, calls.Working))
				}
			})
			began := time.Now()
			if _, err := r.Call(t.Context(), req, nil); reason(err) != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if took := time.Since(began); took > silence+2*sweepEvery {
				t.Errorf("after %v", took)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			call := <-id
			if asked := len(p.asked) > 0; asked != c.asked || asked && p.asked[0].ID != call {
				t.Errorf("asked about %v, the call is %s", p.asked, call)
			}
		})
	}
}
