package store

import (
	"context"
	"maps"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Nodes returns a user's live nodes, first connected first.
func (s *Store) Nodes(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error) {
	nodes, _, err := s.list(ctx, user, 0)
	return nodes, err
}

// NodesAndGone returns, beside the live nodes, those that went away within the last minute: offline and not connected.
func (s *Store) NodesAndGone(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error) {
	nodes, gone, err := s.list(ctx, user, ms(recently))
	if err != nil {
		return nil, err
	}
	nodes = append(nodes, gone...)
	sortByConnection(nodes)
	return nodes, nil
}

func (s *Store) list(ctx context.Context, user ids.UserID, within int64) (nodes, gone []*nodev1.Node, err error) {
	const doing = "list nodes"
	keys := keysOf(user)
	reply, read, err := s.runAndRead(ctx, user, call{
		script: listScript, keys: []string{keys.nodes(), keys.last(), keys.gone()}, args: []any{within},
	})
	if err != nil {
		return nil, nil, failure(ctx, doing, err)
	}
	var live []ids.NodeID
	for range reply.number() {
		live = append(live, ids.NodeID(reply.text()))
	}
	for reply.more() {
		id, went, entry := ids.NodeID(reply.text()), fromMS(reply.number()), reply.text()
		if reply.err != nil {
			break
		}
		node, err := goneNode(id, entry, went)
		if err != nil {
			return nil, nil, failure(ctx, doing, err)
		}
		gone = append(gone, node)
	}
	if reply.err != nil {
		return nil, nil, failure(ctx, doing, reply.err)
	}
	s.expect(user, live)
	nodes, err = s.load(ctx, user, live, read)
	return nodes, gone, err
}

// Load returns those of the nodes that are live still, first connected first.
func (s *Store) Load(ctx context.Context, user ids.UserID, live []ids.NodeID) ([]*nodev1.Node, error) {
	return s.load(ctx, user, live, nil)
}

// load is Load where some nodes were read already.
func (s *Store) load(ctx context.Context, user ids.UserID, live []ids.NodeID, read hashes) ([]*nodev1.Node, error) {
	const doing = "load nodes"
	if missing := read.without(live); len(missing) > 0 {
		pipe := s.client.Pipeline()
		more := queueHashes(ctx, pipe, user, missing)
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, failure(ctx, doing, err)
		}
		maps.Copy(more, read)
		read = more
	}
	nodes := make([]*nodev1.Node, 0, len(live))
	for _, id := range live {
		hash, err := read[id].Result()
		if err != nil {
			return nil, failure(ctx, doing, err)
		}
		if len(hash) == 0 {
			continue // it went after the live ones were named
		}
		node, err := liveNode(hash)
		if err != nil {
			return nil, failure(ctx, doing, err)
		}
		nodes = append(nodes, node)
	}
	sortByConnection(nodes)
	return nodes, nil
}
