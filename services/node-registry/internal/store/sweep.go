package store

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Claim is a set of users that one sweep looks at while no other does.
type Claim struct {
	// ends says until when; it is also how [Store.Settle] knows that nothing came in between.
	ends  int64
	Users []ids.UserID
}

// Claim takes up to max users whose nodes may have expired. Where the claimer dies, others take them after the time.
func (s *Store) Claim(ctx context.Context, max int, lasts time.Duration) (Claim, error) {
	const doing = "claim users for a sweep"
	reply, err := s.run(ctx, call{script: claimScript, keys: []string{usersKey}, args: []any{max, ms(lasts)}})
	if err != nil {
		return Claim{}, failure(ctx, doing, err)
	}
	claim := Claim{ends: reply.number()}
	for reply.more() {
		claim.Users = append(claim.Users, ids.UserID(reply.text()))
	}
	return claim, failure(ctx, doing, reply.err)
}

// Swept is what a sweep found at one user.
type Swept struct {
	// Events announce the nodes that this sweep removed, and no other will.
	Events []*nodev1.NodeEvent
	// Next is when the user's next lease ends; zero where no node is left.
	Next time.Time
	// Err is why the user could not be swept; the others may have been.
	Err error
}

// Sweep removes the expired nodes of users. Results are in the order of users.
func (s *Store) Sweep(ctx context.Context, users []ids.UserID) []Swept {
	calls := make([]call, len(users))
	for i, user := range users {
		keys := keysOf(user)
		calls[i] = call{
			script: sweepScript,
			keys:   []string{keys.nodes(), keys.last(), keys.gone(), keys.tools()},
			args:   []any{goneKept, ms(remembered)},
		}
	}
	results := make([]Swept, len(users))
	for i, reply := range s.runAll(ctx, calls) {
		results[i] = readSwept(ctx, users[i], reply)
	}
	return results
}

func readSwept(ctx context.Context, user ids.UserID, reply *reply) Swept {
	var swept Swept
	at, next := fromMS(reply.number()), reply.number()
	if next != 0 {
		swept.Next = fromMS(next)
	}
	for reply.more() {
		id, ended, entry := ids.NodeID(reply.text()), fromMS(reply.number()), reply.text()
		if reply.err != nil {
			break
		}
		node, err := goneNode(id, entry, ended)
		if err != nil {
			// It is removed all the same, and has to be announced: by its id.
			node, _ = goneNode(id, "", ended)
		}
		swept.Events = append(swept.Events, event(nodev1.NodeEvent_KIND_OFFLINE, user, node, at))
	}
	swept.Err = failure(ctx, "sweep a user", reply.err)
	return swept
}

// Settle ends a claim: next says when each user is due again, zero for not before it registers again. Users who
// registered meanwhile stay due; those not in next stay claimed.
func (s *Store) Settle(ctx context.Context, claim Claim, next map[ids.UserID]time.Time) error {
	if len(next) == 0 {
		return nil
	}
	args := []any{claim.ends}
	for user, due := range next {
		at := int64(0)
		if !due.IsZero() {
			at = due.UnixMilli()
		}
		args = append(args, string(user), at)
	}
	_, err := s.run(ctx, call{script: settleScript, keys: []string{usersKey}, args: args})
	return failure(ctx, "settle a sweep", err)
}
