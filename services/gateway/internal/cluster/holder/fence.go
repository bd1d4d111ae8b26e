package holder

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// fenceTimeout bounds the wait for an old holder's answer. One that does not answer is gone (the bus takes a while to forget
// the subscriptions of ten thousand nodes), or cut off from the bus, and will learn of its successor from the registry.
const fenceTimeout = 500 * time.Millisecond

// fenceAtOnce is how many fences are under way after an outage of the bus.
const fenceAtOnce = 64

// rank orders the connections of a node. Epochs of the registry differ; those that two pods took from their clocks while
// the registry was away may not, and then the pods' names decide.
type rank struct {
	epoch   ids.Epoch
	gateway ids.GatewayID
}

func (r rank) after(other rank) bool {
	return r.epoch > other.epoch || r.epoch == other.epoch && r.gateway > other.gateway
}

func (r rank) append(b []byte) []byte {
	return append(append(strconv.AppendInt(b, int64(r.epoch), 10), ' '), r.gateway...)
}

func parseRank(b []byte) (rank, error) {
	epoch, gateway, _ := strings.Cut(string(b), " ")
	n, err := strconv.ParseInt(epoch, 10, 64)
	return rank{ids.Epoch(n), ids.GatewayID(gateway)}, err
}

// fence tells other holders of the node that a later one exists. n.Life is held.
func (h *Holder) fence(ctx context.Context, n *hub.Node) error {
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	m, err := h.Bus.RequestMsgWithContext(ctx, envelope.Control(bus.NodePrefix(n.Key())+bus.SuffixControl, envelope.Fence, rank{n.Epoch(), h.Gateway}.append(nil)))
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil
	case err != nil:
		h.Logger.Warn("an old holder did not answer the fence, or the bus cannot be reached", "error", err)
		h.mu.Lock()
		h.unfenced[n] = struct{}{}
		h.mu.Unlock()
		return nil
	case string(m.Data) == fenceRefused:
		return errSuperseded
	}
	return nil
}

// refence repeats, when the bus is back, the fences that it could not carry.
func (h *Holder) refence() {
	h.mu.Lock()
	nodes := h.unfenced
	h.unfenced = make(map[*hub.Node]struct{})
	h.mu.Unlock()
	var fencing errgroup.Group
	fencing.SetLimit(fenceAtOnce)
	for n := range nodes {
		fencing.Go(func() error {
			n.Life.Lock()
			defer n.Life.Unlock()
			if !n.Gone && h.fence(h.life, n) != nil {
				n.Conn.Close(conn.Superseded)
			}
			return nil
		})
	}
	_ = fencing.Wait() // the functions return no errors
}

// What an old holder says to a fence.
const (
	fencePassed  = "passed"
	fenceRefused = "refused"
)

// fenced is the old holder's side: it gives the node up before it answers, unless its own connection is the later one. While its
// registration is on its way it does not know which is later, and answers once it does.
func (h *Holder) fenced(key ids.Node, m *nats.Msg) {
	later, err := parseRank(m.Data)
	if err != nil {
		h.Logger.Warn("malformed fence", "error", err)
		return
	}
	n := h.Hub.Find(key)
	if n == nil {
		h.giveWay(key)
		h.answerFence(m, fencePassed)
		return
	}
	h.mu.Lock()
	own := n.Epoch()
	if own == 0 {
		h.fences[n] = append(h.fences[n], m)
	}
	h.mu.Unlock()
	switch {
	case own == 0:
	case rank{own, h.Gateway}.after(later):
		h.answerFence(m, fenceRefused)
	default:
		h.Hub.Remove(n)
		h.unsubscribe(n)
		h.giveWay(key)
		n.Conn.Close(conn.Superseded)
		h.answerFence(m, fencePassed)
	}
}

func (h *Holder) answerFence(m *nats.Msg, answer string) {
	if err := m.Respond([]byte(answer)); err != nil {
		h.Logger.Warn("a fence could not be answered", "error", err)
	}
}
