package store

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Beat is one sign of life of a connection.
type Beat struct {
	Node  ids.Node
	Epoch ids.Epoch
	// Status where unspecified leaves status and tasks as they are.
	Status nodev1.NodeStatus
	Tasks  int32
}

// Beaten is what became of a Beat.
type Beaten struct {
	Result nodev1.BeatResult
	// Event is what to announce; nil where nothing changed.
	Event *nodev1.NodeEvent
	// Err is why the lease could not be renewed; the others may have been.
	Err error
}

// Heartbeat renews leases, each on its own. Results are in the order of beats.
func (s *Store) Heartbeat(ctx context.Context, beats []Beat) []Beaten {
	calls := make([]call, len(beats))
	for i, b := range beats {
		keys := keysOf(b.Node.User)
		calls[i] = call{
			script: heartbeatScript,
			keys:   []string{keys.nodes(), keys.node(b.Node.Node), keys.epoch(b.Node.Node)},
			args:   []any{string(b.Node.Node), int64(b.Epoch), int32(b.Status), b.Tasks, ms(s.rules.Lease)},
		}
	}
	results := make([]Beaten, len(beats))
	for i, reply := range s.runAll(ctx, calls) {
		results[i] = readBeaten(ctx, beats[i], reply)
	}
	return results
}

func readBeaten(ctx context.Context, b Beat, reply *reply) Beaten {
	result, at := reply.text(), fromMS(reply.number())
	var hash map[string]string
	for reply.more() {
		if hash == nil {
			hash = map[string]string{}
		}
		field := reply.text()
		hash[field] = reply.text()
	}
	if reply.err != nil {
		return Beaten{Err: failure(ctx, "renew a node", reply.err)}
	}
	switch result {
	case "unknown":
		return Beaten{Result: nodev1.BeatResult_BEAT_RESULT_UNKNOWN}
	case "superseded":
		return Beaten{Result: nodev1.BeatResult_BEAT_RESULT_SUPERSEDED}
	}
	beaten := Beaten{Result: nodev1.BeatResult_BEAT_RESULT_OK}
	if hash != nil {
		node, err := liveNode(hash)
		if err != nil {
			return Beaten{Err: failure(ctx, "renew a node", err)}
		}
		beaten.Event = event(nodev1.NodeEvent_KIND_UPDATED, b.Node.User, node, at)
	}
	return beaten
}

// Ref names one connection of a node.
type Ref struct {
	Node  ids.Node
	Epoch ids.Epoch
}

// Deregistered is what became of a connection that closed.
type Deregistered struct {
	// Event is what to announce; nil where nothing was removed.
	Event *nodev1.NodeEvent
	// Err is why the connection could not be removed; the others may have been.
	Err error
}

// Deregister removes connections of a gateway that closed, each on its own. Results are in the order of refs.
func (s *Store) Deregister(ctx context.Context, gateway ids.GatewayID, refs []Ref) []Deregistered {
	calls := make([]call, len(refs))
	for i, r := range refs {
		keys, id := keysOf(r.Node.User), r.Node.Node
		calls[i] = call{
			script: deregisterScript,
			keys:   []string{keys.nodes(), keys.node(id), keys.epoch(id), keys.last(), keys.gone()},
			args:   []any{string(id), int64(r.Epoch), goneKept, ms(remembered), ms(seenFor)},
		}
	}
	if len(refs) > 0 && gateway != "" {
		calls = append(calls, releaseCall(gateway, refs)) // a name that is left in the gateway's set does no harm
	}
	results := make([]Deregistered, len(refs))
	for i, reply := range s.runAll(ctx, calls)[:len(refs)] {
		results[i] = readDeregistered(ctx, refs[i], reply)
	}
	return results
}

func readDeregistered(ctx context.Context, r Ref, reply *reply) Deregistered {
	removed, at, entry := reply.number() == 1, fromMS(reply.number()), reply.text()
	if reply.err != nil {
		return Deregistered{Err: failure(ctx, "deregister a node", reply.err)}
	}
	if !removed {
		return Deregistered{}
	}
	node, err := goneNode(r.Node.Node, entry, at)
	if err != nil {
		return Deregistered{Err: failure(ctx, "deregister a node", err)}
	}
	return Deregistered{Event: event(nodev1.NodeEvent_KIND_OFFLINE, r.Node.User, node, at)}
}
