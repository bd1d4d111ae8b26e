package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// kept is a State with fields that only this package needs.
type kept struct {
	State
	found bool

	id     int64
	token  int64
	owner  string
	change int64
}

func (k *kept) lease() Lease { return Lease{Ref: k.Ref, Run: k.Run.ID, Token: k.token, id: k.id} }

const byRef = ` WHERE s.user_id = ? AND s.session_id = ?`

const sessionColumns = `SELECT s.id, s.session_id, s.title, s.status, s.mode, s.run_id, s.finish_reason, s.last_seq,
	s.last_index, s.steps, s.streaming, s.cancel, s.token, s.owner, s.change, s.created, s.updated, {now}`

// scanSession reads sessionColumns, and more.
func (k *kept) scanSession(scan func(...any) error, more ...any) error {
	var session, status string
	var cancel, lastIndex, steps, created, updated, now int64
	k.found = true
	err := scan(append([]any{
		&k.id, &session, &k.Title, &status, &k.Mode, &k.Run.ID, &k.FinishReason, &k.LastSeq,
		&lastIndex, &steps, &k.Run.Streaming, &cancel, &k.token, &k.owner, &k.change, &created, &updated, &now,
	}, more...)...)
	k.Ref.Session, k.Status, k.Session.Run = ids.SessionID(session), Status(status), k.Run.ID
	k.LastIndex, k.Run.Steps, k.Run.CancelRequested = int(lastIndex), int(steps), cancel != 0
	k.Created, k.Updated, k.Now = moment(created), moment(updated), moment(now)
	return err
}

// scanInterrupt reads what a session waits for.
func (k *kept) scanInterrupt(data []byte) error {
	if k.Status != Interrupted {
		return nil
	}
	k.Interrupt = &agentv1.Interrupt{}
	return proto.Unmarshal(data, k.Interrupt)
}

// loading returns the queries that fill k.
func (k *kept) loading(ref Ref) []statement {
	*k = kept{}
	args := []any{string(ref.User), string(ref.Session)}
	return []statement{{
		sql:  sessionColumns + `, d.settings, d.todos, d.lexicon, d.skills, d.interrupt FROM sessions s JOIN details d ON d.session = s.id` + byRef,
		args: args,
		row: func(scan func(...any) error) error {
			var interrupt []byte
			if err := k.scanSession(scan, &k.Run.Settings, &k.Todos, &k.ToolNames, &k.Skills, &interrupt); err != nil {
				return err
			}
			k.Ref = ref
			return k.scanInterrupt(interrupt)
		},
	}, recentMessages(ref, &k.Messages), {
		sql: callColumns + ` FROM sessions s JOIN calls c ON c.session = s.id AND c.message = s.answer` + byRef +
			` AND s.answer > 0 ORDER BY c.position`,
		args: args,
		row: func(scan func(...any) error) error {
			c, err := scanCall(scan)
			k.Calls = append(k.Calls, c)
			return err
		},
	}}
}

// recentMessages is the query for State.Messages.
func recentMessages(ref Ref, into *[]Message) statement {
	return statement{
		sql: messageColumns + ` FROM sessions s JOIN messages m ON m.session = s.id AND m.idx > s.covered AND m.parent = ''` + byRef +
			` ORDER BY m.idx`,
		args: []any{string(ref.User), string(ref.Session)},
		row: func(scan func(...any) error) error {
			m, err := scanMessage(scan)
			*into = append(*into, m)
			return err
		},
	}
}

// load reads a session once; k.found says whether there is one.
func (s *Store) load(ctx context.Context, ref Ref) (*kept, error) {
	k := &kept{}
	if err := s.db.read(ctx, k.loading(ref)); err != nil {
		return k, err
	}
	return k, s.loadTasks(ctx, k)
}

const callColumns = `SELECT c.id, c.run_id, c.position, c.tool, c.tool_key, c.args, c.state, c.node, c.node_mark, c.digest, c.interrupt,
	c.decision, c.reason, c.expires, c.decided, c.parent`

// scanCall reads callColumns, and more.
func scanCall(scan func(...any) error, more ...any) (Call, error) {
	var c Call
	var state string
	var position, expires, decided int64
	err := scan(append([]any{
		&c.ID, &c.Run, &position, &c.Tool, &c.Key, &c.Args, &state, &c.Node, &c.NodeMark, &c.Digest, &c.Interrupt,
		&c.Decision, &c.Reason, &expires, &decided, &c.Parent,
	}, more...)...)
	c.Position, c.State, c.Expires, c.Decided = int(position), CallState(state), moment(expires), moment(decided)
	return c, err
}

// Load returns a session with all that its run needs to go on. Errors: [errs.SessionNotFound].
func (s *Store) Load(ctx context.Context, ref Ref) (State, error) {
	var k *kept
	err := s.retry(ctx, shortPatience, func(ctx context.Context) (err error) {
		if k, err = s.load(ctx, ref); err == nil && !k.found {
			return notFound(ref)
		}
		return err
	})
	if err != nil {
		return State{}, err
	}
	return k.State, nil
}

// CallsByID returns those of the session's calls that have one of the ids, also the ones decided long ago. Errors:
// [errs.SessionNotFound].
func (s *Store) CallsByID(ctx context.Context, ref Ref, names []string) ([]Call, error) {
	var out []Call
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		k, err := s.session(ctx, ref)
		if err != nil {
			return err
		}
		out = nil
		for part := range slices.Chunk(names, maxRows) {
			args := []any{k.id}
			for _, id := range part {
				args = append(args, plain(id))
			}
			err := s.db.read(ctx, []statement{{
				sql:  callColumns + ` FROM calls c WHERE c.session = ? AND c.id IN (` + marks(len(part)) + `)`,
				args: args,
				row: func(scan func(...any) error) error {
					c, err := scanCall(scan)
					out = append(out, c)
					return err
				},
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func notFound(ref Ref) error {
	return errs.New(errs.SessionNotFound, "there is no session %q", string(ref.Session))
}

// moment is the time of so many milliseconds; 0 is none.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// millis is the reverse of moment.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// plain returns what a text column can hold of s: PostgreSQL's takes no NUL, and only UTF-8. Text that was checked before
// is returned unchanged.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
