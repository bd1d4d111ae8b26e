package store

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// hashes are those of nodes that were read; one that is empty is of a node that is not live.
type hashes map[ids.NodeID]*redis.MapStringStringCmd

// without returns those of the nodes that were not read.
func (h hashes) without(nodes []ids.NodeID) []ids.NodeID {
	var missing []ids.NodeID
	for _, id := range nodes {
		if h[id] == nil {
			missing = append(missing, id)
		}
	}
	return missing
}

// queueHashes puts the reading of nodes into a pipeline.
func queueHashes(ctx context.Context, pipe redis.Pipeliner, user ids.UserID, nodes []ids.NodeID) hashes {
	keys, queued := keysOf(user), make(hashes, len(nodes))
	for _, id := range nodes {
		queued[id] = pipe.HGetAll(ctx, keys.node(id))
	}
	return queued
}

// runAndRead runs a script that names the user's live nodes, and reads in the same round trip, after the script, the nodes
// that are likely to be among them: those that were asked for last. What it has not guessed is read by load.
func (s *Store) runAndRead(ctx context.Context, user ids.UserID, c call) (*reply, hashes, error) {
	nodes, _ := s.likely.Get(user)
	if len(nodes) == 0 {
		r, err := s.run(ctx, c)
		return r, nil, err
	}
	pipe := s.client.Pipeline()
	ran := pipe.EvalSha(ctx, c.script.sha, c.keys, c.args...)
	read := queueHashes(ctx, pipe, user, nodes)
	_, _ = pipe.Exec(ctx) // each command has its own error
	items, err := ran.Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // what was read is older than what the script will say
		r, err := s.run(ctx, c)
		return r, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	return newReply(items), read, nil
}

// expect notes which nodes to read with the next script of a user.
func (s *Store) expect(user ids.UserID, live []ids.NodeID) {
	if nodes, _ := s.likely.Peek(user); !slices.Equal(nodes, live) {
		s.likely.Add(user, live)
	}
}
