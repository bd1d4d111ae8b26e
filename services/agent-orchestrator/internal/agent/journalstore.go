package agent

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Journal stores what runs do (package store, which says what each method promises). What it returned from without an error
// survives any crash.
type Journal interface {
	Begin(ctx context.Context, b store.Begin) (store.Lease, store.State, error)
	Expect(ctx context.Context, b store.Begin) (messages []store.Message, ok bool, err error)
	Decide(ctx context.Context, d store.Decide) (store.Lease, store.State, error)
	Load(ctx context.Context, ref store.Ref) (store.State, error)
	Heard(ctx context.Context, ref store.Ref, run, message string) (string, error)
	journal.Committer
	RequestCancel(ctx context.Context, ref store.Ref) (active bool, events []*agentv1.Event, err error)
}

// Leases keeps runs of this pod from being taken over, and takes over those of pods that are gone (package store).
type Leases interface {
	Renew(ctx context.Context, owner string, ttl time.Duration, leases []store.Lease) (lost, cancelled []store.Lease, err error)
	Adopt(ctx context.Context, owner string, ttl time.Duration, limit int) ([]store.Adopted, error)
	Release(ctx context.Context, leases []store.Lease) error
}

// Decisions knows what people decided, about calls and about tools (package store).
type Decisions interface {
	CallsByID(ctx context.Context, ref store.Ref, ids []string) ([]store.Call, error)
	ApprovalSettings(ctx context.Context, user ids.UserID) (store.ApprovalSettings, error)
	Pin(ctx context.Context, user ids.UserID, t store.AllowedTool) (pinned bool, err error)
}
