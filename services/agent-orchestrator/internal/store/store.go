package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Options say where a store is.
type Options struct {
	// URL is postgres://user:password@host/database?..., or sqlite:///absolute/path/file.db.
	URL config.Secret
	// Patience is how long a Commit outlasts an outage of the database; 0 means 15 s. Everything else gives up after 2 s.
	Patience time.Duration
	// Logger hears of outages; nil discards.
	Logger *slog.Logger
}

// Store is one pod's door to the database. Its methods may be called from several goroutines; Commits of one lease must
// come one after the other.
//
// Where the database cannot be reached in time, every method's error is [refusal.Unavailable].
type Store struct{}

// Open connects, and brings the schema up to date: several pods may do so at once.
func Open(ctx context.Context, o Options) (*Store, error) { return nil, errors.ErrUnsupported }

// Close ends all connections.
func (s *Store) Close() error { return errors.ErrUnsupported }

// Check reports whether the database answers; it does not retry.
func (s *Store) Check(ctx context.Context) error { return errors.ErrUnsupported }

// Begin says which run is to begin.
type Begin struct {
	Ref
	// Run is the new run's id, never used before.
	Run string
	// Owner is the pod that will hold the lease, for TTL.
	Owner string
	TTL   time.Duration
	// Title is kept where the session is new.
	Title    string
	Mode     string
	Settings []byte // sealed by the caller, opaque here
	// Message is the user's text.
	Message string
	// History becomes the session's first messages where it has none yet; Index and Run are set by the store.
	History []Message
	// IdempotencyKey, where not empty, names this request among the user's.
	IdempotencyKey string
}

// AlreadyBegun says that a run was begun with the same key before.
type AlreadyBegun struct {
	Ref
	Run string
	// FirstSeq is the number of the run's first event.
	FirstSeq int64
}

func (e *AlreadyBegun) Error() string { return "store: the key has begun run " + e.Run + " before" }

// Begin starts a run, in a new session where there is none, and appends the user's message. An interrupt whose waiting
// calls have all expired is ended first: they get the decision "timeout" and tool messages that say that nobody decided in
// time.
//
// Errors: [*AlreadyBegun], [refusal.RunActive], [refusal.Interrupted].
func (s *Store) Begin(ctx context.Context, b Begin) (Lease, State, error) {
	return Lease{}, State{}, errors.ErrUnsupported
}

// Decide says how an interrupt ends.
type Decide struct {
	Ref
	Owner string
	TTL   time.Duration
	// InterruptID is the interrupt that was decided.
	InterruptID string
	// Calls replace those of the same id: decided, and Ready (or Waiting again, never Ended). Where Args differ from those
	// kept, the assistant's message is rewritten with them.
	Calls []Call
	// Settings replace the run's, unless nil.
	Settings []byte
	// Messages are appended; the store sets Index and Run.
	Messages []Message
}

// Decide takes an interrupted run up again. Of several that decide the same interrupt exactly one succeeds.
//
// Errors: [refusal.SessionNotFound], [refusal.AlreadyDecided] where the session does not wait for that interrupt.
func (s *Store) Decide(ctx context.Context, d Decide) (Lease, State, error) {
	return Lease{}, State{}, errors.ErrUnsupported
}

// Adopted is a run that was taken over.
type Adopted struct {
	Lease Lease
	State State
}

// Adopt takes over at most limit runs whose lease has expired, the longest expired first; each goes to one pod only.
func (s *Store) Adopt(ctx context.Context, owner string, ttl time.Duration, limit int) ([]Adopted, error) {
	return nil, errors.ErrUnsupported
}

// Renew prolongs leases to ttl from now. lost are those that are not the session's any more, cancelled those (renewed)
// whose end somebody asked for.
func (s *Store) Renew(ctx context.Context, owner string, ttl time.Duration, leases []Lease) (lost, cancelled []Lease, err error) {
	return nil, nil, errors.ErrUnsupported
}

// Release lets leases expire at once, so that others adopt the runs. Those that are lost are passed over.
func (s *Store) Release(ctx context.Context, leases []Lease) error { return errors.ErrUnsupported }

// Commit writes a change whole or not at all; when it returns nil, the change outlives the pod. An outage in between is
// waited for, and a commit whose answer was lost is looked up, never written twice.
//
// Errors: [ErrLeaseLost]; [ErrSequence] where the events do not follow the session's last one.
func (s *Store) Commit(ctx context.Context, l Lease, c Change) error { return errors.ErrUnsupported }

// RequestCancel asks for the end of a session's run. A running one is flagged, which its holder hears of at Renew. An
// interrupt ends at once: its calls get the decision "cancelled" and tool messages, and a `complete` event is appended.
// active reports whether there was something to cancel; events are those that were appended, for the caller to publish.
//
// Errors: [refusal.SessionNotFound].
func (s *Store) RequestCancel(ctx context.Context, ref Ref) (active bool, events []*agentv1.Event, err error) {
	return false, nil, errors.ErrUnsupported
}

// Load returns a session with all that its run needs to go on. Errors: [refusal.SessionNotFound].
func (s *Store) Load(ctx context.Context, ref Ref) (State, error) {
	return State{}, errors.ErrUnsupported
}

// CallsByID returns those of the session's calls that have one of the ids, in no order, also the ones decided long ago.
// Errors: [refusal.SessionNotFound].
func (s *Store) CallsByID(ctx context.Context, ref Ref, ids []string) ([]Call, error) {
	return nil, errors.ErrUnsupported
}

// Session returns one session. Errors: [refusal.SessionNotFound].
func (s *Store) Session(ctx context.Context, ref Ref) (Session, error) {
	return Session{}, errors.ErrUnsupported
}

// Sessions lists a user's sessions, the last changed first: at most limit (0 means 50; at most 200) after the cursor of
// the page before. next is "" on the last page. Errors: [refusal.InvalidArgument] for a cursor that is none.
func (s *Store) Sessions(ctx context.Context, user ids.UserID, limit int, cursor string) (list []Session, next string, err error) {
	return nil, "", errors.ErrUnsupported
}

// Messages returns a session's messages with an Index above after, the oldest first; limit 0 means all. Errors:
// [refusal.SessionNotFound].
func (s *Store) Messages(ctx context.Context, ref Ref, after, limit int) ([]Message, error) {
	return nil, errors.ErrUnsupported
}

// Events returns a session's events with a Seq above after, in order; limit 0 means all. Errors:
// [refusal.SessionNotFound].
func (s *Store) Events(ctx context.Context, ref Ref, after int64, limit int) ([]*agentv1.Event, error) {
	return nil, errors.ErrUnsupported
}

// Delete removes a session with all that is kept of it; whoever holds its lease has lost it. Errors:
// [refusal.SessionNotFound].
func (s *Store) Delete(ctx context.Context, ref Ref) error { return errors.ErrUnsupported }

// ApprovalSettings returns a user's mode ("run_everything" for a new user) and allowlist, sorted.
func (s *Store) ApprovalSettings(ctx context.Context, user ids.UserID) (mode string, allowlist []string, err error) {
	return "", nil, errors.ErrUnsupported
}

// SetApprovalSettings replaces both; mode "" keeps the mode. A tool named twice counts once.
func (s *Store) SetApprovalSettings(ctx context.Context, user ids.UserID, mode string, allowlist []string) error {
	return errors.ErrUnsupported
}

// SavedTool is one tool configuration of a user.
type SavedTool struct {
	ID   string // chosen by the caller
	User ids.UserID
	Type string // mcp or oauth
	// Name is unique among the user's.
	Name    string
	Enabled bool
	Config  []byte // JSON
	Secrets []byte // sealed by the caller, opaque here
	Created time.Time
	Updated time.Time
}

// MaxSavedTools is how many tools a user may save.
const MaxSavedTools = 100

// ListTools returns a user's tools, the oldest first.
func (s *Store) ListTools(ctx context.Context, user ids.UserID) ([]SavedTool, error) {
	return nil, errors.ErrUnsupported
}

// GetTool returns one. Errors: [refusal.ToolNotFound].
func (s *Store) GetTool(ctx context.Context, user ids.UserID, id string) (SavedTool, error) {
	return SavedTool{}, errors.ErrUnsupported
}

// CreateTool keeps a new one, and returns it with its times. Errors: [refusal.NameTaken], [refusal.LimitReached].
func (s *Store) CreateTool(ctx context.Context, t SavedTool) (SavedTool, error) {
	return SavedTool{}, errors.ErrUnsupported
}

// UpdateTool replaces the one with the same ID and user, and returns it with its times. Errors: [refusal.ToolNotFound],
// [refusal.NameTaken].
func (s *Store) UpdateTool(ctx context.Context, t SavedTool) (SavedTool, error) {
	return SavedTool{}, errors.ErrUnsupported
}

// DeleteTool removes one. Errors: [refusal.ToolNotFound].
func (s *Store) DeleteTool(ctx context.Context, user ids.UserID, id string) error {
	return errors.ErrUnsupported
}
