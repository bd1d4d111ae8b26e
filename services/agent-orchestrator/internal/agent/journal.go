package agent

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Journal keeps what runs do (package store). Whatever it returned from is there after any crash.
type Journal interface {
	// Begin makes a run the session's active one, in one transaction: it takes the session's row (creating it where there is
	// none), calls first with what is kept, applies the Change that first returns under the new lease, and returns the state
	// after it. An error of first undoes everything and is returned as it is. A session whose run is active is
	// refusal.RunActive, without asking first; an interrupted one is up to first. Where the user has begun a run with the same
	// key before, that one is returned as it is, Begun.Repeated is set, and first is not asked.
	Begin(ctx context.Context, b store.Begin, first func(store.State) (store.Change, error)) (store.Begun, error)
	// Resume takes the lease of an interrupted session, in the same way: one of several that race for it gets it. A session
	// that is not interrupted is still handed to then, which knows what to answer: its error is returned, and where it has
	// none, refusal.NotInterrupted. An absent session is refusal.SessionNotFound.
	Resume(ctx context.Context, ref store.Ref, then func(store.State) (store.Change, error)) (store.Begun, error)
	// Commit applies a change. It is store.ErrLeaseLost where the lease is not the session's.
	Commit(ctx context.Context, lease store.Lease, change store.Change) error
	// State reads a session; refusal.SessionNotFound where there is none.
	State(ctx context.Context, ref store.Ref) (store.State, error)
	// RequestCancel marks the active run for its end, and says which status the session has. Whoever holds the lease hears of
	// it at the next renewal.
	RequestCancel(ctx context.Context, ref store.Ref) (store.Status, error)
}

// Decisions remembers what was decided.
type Decisions interface {
	// Decided reports whether any of these calls of the session was decided, in any run.
	Decided(ctx context.Context, ref store.Ref, calls []string) (bool, error)
	// ApprovalSettings are the user's; those of a new user where none are kept.
	ApprovalSettings(ctx context.Context, user ids.UserID) (*agentv1.ApprovalSettings, error)
}

// Leases keeps runs of this pod from being taken over, and takes over those of pods that are gone. Times are the
// database's.
type Leases interface {
	// Renew extends leases. Those in lost are another's, or nobody's; the runs in cancelled were asked to end.
	Renew(ctx context.Context, leases []store.Lease) (lost, cancelled []store.Lease, err error)
	// Adopt takes at most limit leases that are over, the longest over first.
	Adopt(ctx context.Context, limit int) ([]store.Lease, error)
	// Release gives leases up at once, so that another pod adopts the runs.
	Release(ctx context.Context, leases []store.Lease) error
}
