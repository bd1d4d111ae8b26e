package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Nodes returns a user's live nodes, first connected first.
func (s *Store) Nodes(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error) {
	live, _, err := s.list(ctx, user, 0)
	if err != nil {
		return nil, err
	}
	return s.Load(ctx, user, live)
}

// NodesAndGone returns, beside the live nodes, those that went away within the last minute: offline and not connected.
func (s *Store) NodesAndGone(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error) {
	live, gone, err := s.list(ctx, user, ms(recently))
	if err != nil {
		return nil, err
	}
	nodes, err := s.Load(ctx, user, live)
	if err != nil {
		return nil, err
	}
	nodes = append(nodes, gone...)
	sortByConnection(nodes)
	return nodes, nil
}

func (s *Store) list(ctx context.Context, user ids.UserID, within int64) (live []ids.NodeID, gone []*nodev1.Node, err error) {
	const doing = "list nodes"
	keys := keysOf(user)
	reply, err := s.run(ctx, call{
		script: listScript, keys: []string{keys.nodes(), keys.last(), keys.gone()}, args: []any{within},
	})
	if err != nil {
		return nil, nil, failure(ctx, doing, err)
	}
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
	return live, gone, failure(ctx, doing, reply.err)
}

// Load returns those of the nodes that are live still, first connected first.
func (s *Store) Load(ctx context.Context, user ids.UserID, live []ids.NodeID) ([]*nodev1.Node, error) {
	const doing = "load nodes"
	if len(live) == 0 {
		return nil, nil
	}
	keys, pipe := keysOf(user), s.client.Pipeline()
	cmds := make([]*redis.MapStringStringCmd, len(live))
	for i, id := range live {
		cmds[i] = pipe.HGetAll(ctx, keys.node(id))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failure(ctx, doing, err)
	}
	nodes := make([]*nodev1.Node, 0, len(live))
	for _, cmd := range cmds {
		if len(cmd.Val()) == 0 {
			continue // it went between the two round trips
		}
		node, err := liveNode(cmd.Val())
		if err != nil {
			return nil, failure(ctx, doing, err)
		}
		nodes = append(nodes, node)
	}
	sortByConnection(nodes)
	return nodes, nil
}
