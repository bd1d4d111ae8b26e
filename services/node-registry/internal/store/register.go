package store

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Registration is one connection of a node.
type Registration struct {
	User    ids.UserID
	Gateway ids.GatewayID
	// Epoch is 0 for a new connection, which is superseded where the live one was accepted later. Else it is a registered one
	// that changes its info, or comes back after the store lost it; where the store has a later epoch of the same connection,
	// by gateway and ConnectedAt, it gets that.
	Epoch ids.Epoch
	// Status where unspecified is online, or as it was.
	Status nodev1.NodeStatus
	Tasks  int32
	// ConnectedAt where zero is now, or as it was.
	ConnectedAt time.Time
	// Info names the node.
	Info Info
	// Tools are the definitions that the info's digest names, packed; nil where the store may have them.
	Tools []byte
}

// Registered is what became of a Registration.
type Registered struct {
	Outcome nodev1.RegisterResult_Outcome
	// Epoch of the connection; where it was superseded, that of the newest.
	Epoch ids.Epoch
	// Event is what to announce; nil where nothing changed.
	Event *nodev1.NodeEvent
	// Err is why this registration could not be stored; the others may have been.
	Err error
}

// Register stores connections, each on its own. Results are in the order of regs.
func (s *Store) Register(ctx context.Context, regs []Registration) []Registered {
	calls := make([]call, len(regs))
	for i, r := range regs {
		calls[i] = s.registerCall(r)
	}
	results := make([]Registered, len(regs))
	for i, reply := range s.runAll(ctx, calls) {
		results[i] = readRegistered(ctx, regs[i], reply)
	}
	s.markNew(ctx, regs, results)
	return results
}

// lateBy is how late a registration may arrive: longer than gateways and registries together wait for one. A pod's wrong
// clock can keep a node out for that long.
const lateBy = 30 * time.Second

func (s *Store) registerCall(r Registration) call {
	keys, id := keysOf(r.User), r.Info.node()
	connected := ""
	if !r.ConnectedAt.IsZero() {
		connected = strconv.FormatInt(r.ConnectedAt.UnixNano(), 10)
	}
	return call{
		script: registerScript,
		keys:   []string{keys.nodes(), keys.node(id), keys.epoch(id), keys.last(), keys.gone(), keys.tools()},
		args: []any{
			string(id), int64(r.Epoch), string(r.Gateway), int32(r.Status), r.Tasks, connected, r.Info.encoded,
			ms(s.rules.Lease), s.rules.NodesPerUser, ms(remembered), ms(seenFor), ms(lateBy),
			r.Info.message.GetToolsDigest(), r.Tools,
		},
	}
}

func readRegistered(ctx context.Context, r Registration, reply *reply) Registered {
	outcome, epoch := reply.text(), ids.Epoch(reply.number())
	switch {
	case reply.err != nil:
		return Registered{Err: failure(ctx, "register a node", reply.err)}
	case outcome == "too many":
		return Registered{Outcome: nodev1.RegisterResult_OUTCOME_TOO_MANY_NODES}
	case outcome == "superseded":
		return Registered{Outcome: nodev1.RegisterResult_OUTCOME_SUPERSEDED, Epoch: epoch}
	case outcome == "tools wanted":
		return Registered{Outcome: nodev1.RegisterResult_OUTCOME_TOOLS_WANTED}
	}
	change := reply.text()
	node := &nodev1.Node{
		Info: r.Info.message, IsConnected: true, GatewayId: string(r.Gateway), Epoch: int64(epoch),
		Status:       nodev1.NodeStatus(reply.number()),
		CurrentTasks: int32(reply.number()),
		ConnectedAt:  timestamppb.New(time.Unix(0, reply.number())),
	}
	at := fromMS(reply.number())
	node.LastSeenAt = timestamppb.New(at)
	if reply.err != nil {
		return Registered{Err: failure(ctx, "register a node", reply.err)}
	}
	registered := Registered{Outcome: nodev1.RegisterResult_OUTCOME_REGISTERED, Epoch: epoch}
	switch change {
	case "online":
		registered.Event = event(nodev1.NodeEvent_KIND_ONLINE, r.User, node, at)
	case "updated":
		registered.Event = event(nodev1.NodeEvent_KIND_UPDATED, r.User, node, at)
	}
	return registered
}

// markNew has the sweep look after users whose nodes are new. It follows the registration: a sweep that finds a user
// without nodes forgets the user, and must not do so in between. A registration whose mark failed has failed: whoever
// registers again marks again.
func (s *Store) markNew(ctx context.Context, regs []Registration, results []Registered) {
	var calls []call
	var marked []int
	for i, r := range results {
		if r.Event.GetKind() != nodev1.NodeEvent_KIND_ONLINE {
			continue
		}
		if len(marked)%pipelineSize == 0 {
			calls = append(calls, call{script: markScript, keys: []string{usersKey}})
		}
		last := &calls[len(calls)-1]
		last.args = append(last.args, string(regs[i].User))
		marked = append(marked, i)
	}
	marks := len(calls)
	calls = append(calls, holdCalls(regs, results)...)
	for j, reply := range s.runAll(ctx, calls) {
		if reply.err == nil || j >= marks {
			continue // without its gateway's note of it, a lease ends as ever
		}
		err := failure(ctx, "register a node", reply.err)
		for _, i := range marked[j*pipelineSize : min((j+1)*pipelineSize, len(marked))] {
			results[i] = Registered{Err: err}
		}
	}
}
