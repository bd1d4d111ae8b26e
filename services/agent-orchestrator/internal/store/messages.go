package store

import (
	"context"
	"encoding/json"
	"time"
)

const messageColumns = `SELECT m.idx, m.run_id, m.role, m.content, m.calls, m.call_id, m.tool, m.covers, m.at, m.parent`

func scanMessage(scan func(...any) error) (Message, error) {
	var m Message
	var index, covers, at int64
	var content, calls []byte
	if err := scan(&index, &m.Run, &m.Role, &content, &calls, &m.CallID, &m.Tool, &covers, &at, &m.Parent); err != nil {
		return m, err
	}
	m.Index, m.Content, m.Covers, m.At = int(index), string(content), int(covers), moment(at)
	if len(calls) == 0 {
		return m, nil
	}
	return m, json.Unmarshal(calls, &m.Calls)
}

// messageValues are m's, without the session and the index.
func messageValues(m *Message) ([]any, error) {
	var calls []byte
	if len(m.Calls) > 0 {
		own := make([]MessageCall, len(m.Calls))
		for i, c := range m.Calls {
			own[i] = MessageCall{ID: plain(c.ID), Name: plain(c.Name), Args: c.Args, Written: plain(c.Written)}
		}
		var err error
		if calls, err = json.Marshal(own); err != nil {
			return nil, err
		}
	}
	at := m.At
	if at.IsZero() {
		at = time.Now()
	}
	return []any{plain(m.Run), plain(m.Role), []byte(m.Content), calls, plain(m.CallID), plain(m.Tool), m.Covers, millis(at), plain(m.Parent)}, nil
}

const intoMessages = `INSERT INTO messages (session, idx, run_id, role, content, calls, call_id, tool, covers, at, parent)`

// insertMessages returns statements that append messages, which carry their index.
func insertMessages(session int64, messages []Message) ([]statement, error) {
	rows := make([][]any, len(messages))
	for i := range messages {
		values, err := messageValues(&messages[i])
		if err != nil {
			return nil, err
		}
		rows[i] = append([]any{session, messages[i].Index}, values...)
	}
	return inserts(intoMessages, "", rows), nil
}

// Messages returns the messages of one of a session's conversations with an Index above after, the oldest first; limit 0 means
// all. The conversation is that of the sub-agent that does the call parent; the user's where parent is "". Errors:
// [errs.SessionNotFound].
func (s *Store) Messages(ctx context.Context, ref Ref, parent string, after, limit int) ([]Message, error) {
	var out []Message
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		k, err := s.session(ctx, ref)
		if err != nil {
			return err
		}
		out = nil
		return s.db.read(ctx, []statement{{
			sql:  messageColumns + ` FROM messages m WHERE m.session = ? AND m.idx > ? AND m.parent = ? ORDER BY m.idx LIMIT ?`,
			args: []any{k.id, after, plain(parent), orAll(limit)},
			row: func(scan func(...any) error) error {
				m, err := scanMessage(scan)
				out = append(out, m)
				return err
			},
		}})
	})
	return out, err
}

// orAll is what LIMIT takes for "all" on every database.
func orAll(limit int) int {
	if limit <= 0 {
		return 1 << 53
	}
	return limit
}
