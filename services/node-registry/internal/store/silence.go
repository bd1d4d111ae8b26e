package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// A gateway that hangs or was killed renews nothing, but its nodes' leases run for up to a minute. So each gateway has a set of
// its connections, which is where to look once the gateway reports no more. The set lies in another slot than the nodes:
// it may name connections that have ended, and miss one whose registry died at the wrong moment; that one's lease ends as ever.

// heldFor is how long the set outlives the gateway's last report or registration.
const heldFor = time.Hour

// Silent names the gateways whose report has ended.
func (s *Store) Silent(ctx context.Context) ([]ids.GatewayID, error) {
	const doing = "look for silent gateways"
	reply, err := s.run(ctx, call{script: silentScript, keys: []string{gatewaysKey}})
	if err != nil {
		return nil, failure(ctx, doing, err)
	}
	var silent []ids.GatewayID
	for reply.more() {
		silent = append(silent, ids.GatewayID(reply.text()))
	}
	return silent, failure(ctx, doing, reply.err)
}

// Forget has a gateway that is silent no longer looked at.
func (s *Store) Forget(ctx context.Context, id ids.GatewayID) error {
	_, err := s.run(ctx, call{script: forgetScript, keys: []string{gatewaysKey}, args: []any{string(id)}})
	return failure(ctx, "forget a gateway", err)
}

// Vacated is what became of connections of a silent gateway.
type Vacated struct {
	// Events announce the nodes that left, and nobody else will.
	Events []*nodev1.NodeEvent
	// More is set where there may be more connections to look at now, Kept where some are to be looked at later.
	More, Kept bool
}

// Vacate ends the leases of up to max connections of a silent gateway, unless they were renewed lately or have a successor. With an
// error it may have ended some.
func (s *Store) Vacate(ctx context.Context, id ids.GatewayID, max int) (v Vacated, err error) {
	const doing = "end the leases of a silent gateway"
	reply, err := s.run(ctx, call{script: vacateScript, keys: []string{heldKey(id)}, args: []any{max}})
	if err != nil {
		return v, failure(ctx, doing, err)
	}
	var refs []Ref
	var calls []call
	full := len(reply.items) == max
	for reply.more() {
		ref, ok := parseConnection(reply.text())
		if !ok {
			continue
		}
		keys := keysOf(ref.Node.User)
		refs = append(refs, ref)
		calls = append(calls, call{
			script: leaveScript,
			keys:   []string{keys.nodes(), keys.node(ref.Node.Node), keys.last(), keys.gone()},
			args:   []any{string(ref.Node.Node), int64(ref.Epoch), ms(s.rules.Unseen), goneKept, ms(remembered)},
		})
	}
	var back []Ref
	for i, reply := range s.runAll(ctx, calls) {
		event, seen, failed := readLeft(ctx, refs[i], reply)
		if failed != nil {
			err = failed
		}
		if seen || failed != nil {
			back = append(back, refs[i])
		}
		if event != nil {
			v.Events = append(v.Events, event)
		}
	}
	if v.Kept = len(back) > 0; v.Kept {
		s.runAll(ctx, []call{holdCall(id, back)}) // if this fails, their leases end as ever
	}
	v.More = full && !v.Kept && err == nil
	return v, err
}

func readLeft(ctx context.Context, ref Ref, reply *reply) (left *nodev1.NodeEvent, seen bool, err error) {
	const doing = "end a lease"
	outcome, at, entry := reply.text(), fromMS(reply.number()), reply.text()
	if reply.err != nil {
		return nil, false, failure(ctx, doing, reply.err)
	}
	if outcome != "left" {
		return nil, outcome == "seen", nil
	}
	node, err := goneNode(ref.Node.Node, entry, at)
	if err != nil {
		// It is removed all the same, and has to be announced: by its id.
		node, _ = goneNode(ref.Node.Node, "", at)
	}
	return event(nodev1.NodeEvent_KIND_OFFLINE, ref.Node.User, node, at), false, nil
}

func holdCall(id ids.GatewayID, refs []Ref) call {
	args := []any{ms(heldFor)}
	for _, r := range refs {
		args = append(args, r.connection())
	}
	return call{script: holdScript, keys: []string{heldKey(id)}, args: args}
}

func releaseCall(id ids.GatewayID, refs []Ref) call {
	args := make([]any, len(refs))
	for i, r := range refs {
		args[i] = r.connection()
	}
	return call{script: releaseScript, keys: []string{heldKey(id)}, args: args}
}

// holdCalls note the new connections among results with their gateways.
func holdCalls(regs []Registration, results []Registered) (calls []call) {
	held := map[ids.GatewayID][]Ref{}
	for i, r := range results {
		if r.Event.GetKind() == nodev1.NodeEvent_KIND_ONLINE {
			ref := Ref{Node: ids.Node{User: regs[i].User, Node: regs[i].Info.node()}, Epoch: r.Epoch}
			held[regs[i].Gateway] = append(held[regs[i].Gateway], ref)
		}
	}
	for id, refs := range held {
		calls = append(calls, holdCall(id, refs))
	}
	return calls
}

// connection is how a set names a connection.
func (r Ref) connection() string {
	return bus.Token(string(r.Node.User)) + " " + bus.Token(string(r.Node.Node)) + " " + strconv.FormatInt(int64(r.Epoch), 10)
}

func parseConnection(text string) (r Ref, ok bool) {
	parts := strings.Split(text, " ")
	if len(parts) != 3 {
		return r, false
	}
	user, err1 := bus.Untoken(parts[0])
	node, err2 := bus.Untoken(parts[1])
	epoch, err3 := strconv.ParseInt(parts[2], 10, 64)
	return Ref{ids.Node{User: ids.UserID(user), Node: ids.NodeID(node)}, ids.Epoch(epoch)}, err1 == nil && err2 == nil && err3 == nil
}
