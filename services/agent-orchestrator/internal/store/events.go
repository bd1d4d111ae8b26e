package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// The events of one change are one row. Each event is its length as a uvarint, and the message without the fields that the
// row or the session has for all of them: seq, session_id and run_id.

// frame packs the events of a change.
func frame(events []*agentv1.Event) ([]byte, error) {
	var out, buffer []byte
	for _, e := range events {
		slim := agentv1.Event{At: e.GetAt(), ParentToolCallId: e.GetParentToolCallId(), Kind: e.GetKind()}
		var err error
		if buffer, err = (proto.MarshalOptions{}).MarshalAppend(buffer[:0], &slim); err != nil {
			return nil, fmt.Errorf("store: an event cannot be kept: %w", err)
		}
		out = binary.AppendUvarint(out, uint64(len(buffer)))
		out = append(out, buffer...)
	}
	return out, nil
}

// inOrder checks that the numbers of events follow one another. The error is ErrSequence.
func inOrder(events []*agentv1.Event) error {
	for i, e := range events {
		if e.GetSeq() != events[0].GetSeq()+int64(i) {
			return fmt.Errorf("%w: %d stands after %d", ErrSequence, e.GetSeq(), events[i-1].GetSeq())
		}
	}
	return nil
}

var errFrame = errors.New("store: the events of a row cannot be read")

// unframe unpacks the events of a row, whose last one has the number last.
func unframe(data []byte, session, run string, last int64) ([]*agentv1.Event, error) {
	var out []*agentv1.Event
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil, errFrame
		}
		e := &agentv1.Event{}
		if err := proto.Unmarshal(data[n:n+int(size)], e); err != nil {
			return nil, fmt.Errorf("%w: %w", errFrame, err)
		}
		out = append(out, e)
		data = data[n+int(size):]
	}
	for i, e := range out {
		e.Seq, e.SessionId, e.RunId = last-int64(len(out)-1-i), session, run
	}
	return out, nil
}

// Events returns a session's events with a Seq above after, in order; limit 0 means all. Errors:
// [errs.SessionNotFound].
func (s *Store) Events(ctx context.Context, ref Ref, after int64, limit int) ([]*agentv1.Event, error) {
	limit = orAll(limit)
	var out []*agentv1.Event
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = nil
		found := false
		err := s.db.read(ctx, []statement{{
			sql: `SELECT e.last_seq, e.run_id, e.data FROM sessions s
				LEFT JOIN events e ON e.session = s.id AND e.last_seq > ?` + byRef + ` ORDER BY e.last_seq LIMIT ?`,
			args: []any{after, string(ref.User), string(ref.Session), limit},
			row: func(scan func(...any) error) error {
				found = true
				var last *int64
				var run *string
				var data []byte
				if err := scan(&last, &run, &data); err != nil || last == nil || len(out) >= limit {
					return err
				}
				events, err := unframe(data, string(ref.Session), *run, *last)
				for len(events) > 0 && events[0].GetSeq() <= after {
					events = events[1:]
				}
				out = append(out, events...)
				return err
			},
		}})
		if err == nil && !found {
			return notFound(ref)
		}
		return err
	})
	return out[:min(len(out), limit)], err
}

// Heard returns the text that the events of a run have under a message_id, without the text that it replaced.
func (s *Store) Heard(ctx context.Context, ref Ref, run, message string) (string, error) {
	var text strings.Builder
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		text.Reset()
		return s.db.read(ctx, []statement{{
			sql: `SELECT e.last_seq, e.data FROM sessions s JOIN events e ON e.session = s.id` + byRef +
				` AND e.run_id = ? ORDER BY e.last_seq`,
			args: []any{string(ref.User), string(ref.Session), run},
			row: func(scan func(...any) error) error {
				var last int64
				var data []byte
				if err := scan(&last, &data); err != nil {
					return err
				}
				events, err := unframe(data, string(ref.Session), run, last)
				for _, e := range events {
					if e.GetText().GetMessageId() == message {
						text.WriteString(e.GetText().GetContent())
					}
				}
				return err
			},
		}})
	})
	return text.String(), err
}
