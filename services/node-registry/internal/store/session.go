package store

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Session is what the store knows of a session at one moment.
type Session struct {
	// Bound is the node that the session is bound to; empty where it is not.
	Bound ids.NodeID
	// Last is what is known of the bound node, as of one that is not connected; nil where the session is not bound.
	Last *nodev1.Node
	// Live are the user's live nodes.
	Live []ids.NodeID
}

// Session reads a session. One that is in use lives on for a whole SessionTTL.
func (s *Store) Session(ctx context.Context, user ids.UserID, id ids.SessionID, inUse bool) (Session, error) {
	const doing = "read a session"
	reply, err := s.run(ctx, s.sessionCall(user, id, inUse))
	if err != nil {
		return Session{}, failure(ctx, doing, err)
	}
	session, err := sessionOf(reply)
	return session, failure(ctx, doing, err)
}

// SessionAndNodes reads a session as Session does, and returns the live nodes, too, first connected first.
func (s *Store) SessionAndNodes(ctx context.Context, user ids.UserID, id ids.SessionID, inUse bool) (Session, []*nodev1.Node, error) {
	const doing = "read a session"
	reply, read, err := s.runAndRead(ctx, user, s.sessionCall(user, id, inUse))
	if err != nil {
		return Session{}, nil, failure(ctx, doing, err)
	}
	session, err := sessionOf(reply)
	if err != nil {
		return Session{}, nil, failure(ctx, doing, err)
	}
	s.expect(user, session.Live)
	nodes, err := s.load(ctx, user, session.Live, read)
	return session, nodes, err
}

func (s *Store) sessionCall(user ids.UserID, id ids.SessionID, inUse bool) call {
	keys, ttl := keysOf(user), int64(0)
	if inUse {
		ttl = ms(s.rules.SessionTTL)
	}
	return call{script: sessionScript, keys: []string{keys.session(id), keys.nodes(), keys.last()}, args: []any{ttl}}
}

func sessionOf(reply *reply) (session Session, err error) {
	session.Bound = ids.NodeID(reply.text())
	entry := reply.text()
	for reply.more() {
		session.Live = append(session.Live, ids.NodeID(reply.text()))
	}
	if reply.err != nil {
		return Session{}, reply.err
	}
	if session.Bound != "" {
		session.Last, err = goneNode(session.Bound, entry, time.Time{})
	}
	return session, err
}

// Bind ties a session to a node, whatever it was bound to, and returns what is known of the node, as of one that is not
// connected; [ErrNeverSeen] where the node was never registered.
func (s *Store) Bind(ctx context.Context, user ids.UserID, id ids.SessionID, node ids.NodeID) (*nodev1.Node, error) {
	const doing = "bind a session"
	keys := keysOf(user)
	reply, err := s.run(ctx, call{
		script: bindScript,
		keys:   []string{keys.session(id), keys.epoch(node), keys.last()},
		args:   []any{string(node), ms(s.rules.SessionTTL)},
	})
	if err != nil {
		return nil, failure(ctx, doing, err)
	}
	if reply.number() == 0 && reply.err == nil {
		return nil, ErrNeverSeen
	}
	entry := reply.text()
	if reply.err != nil {
		return nil, failure(ctx, doing, reply.err)
	}
	last, err := goneNode(node, entry, time.Time{})
	return last, failure(ctx, doing, err)
}

// Adopt ties a session to a node unless it is bound, and returns the node that it is bound to now.
func (s *Store) Adopt(ctx context.Context, user ids.UserID, id ids.SessionID, node ids.NodeID) (ids.NodeID, error) {
	const doing = "bind a session"
	reply, err := s.run(ctx, call{
		script: adoptScript,
		keys:   []string{keysOf(user).session(id)},
		args:   []any{string(node), ms(s.rules.SessionTTL)},
	})
	if err != nil {
		return "", failure(ctx, doing, err)
	}
	bound := ids.NodeID(reply.text())
	return bound, failure(ctx, doing, reply.err)
}
