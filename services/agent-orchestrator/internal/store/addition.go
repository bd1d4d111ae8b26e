package store

import (
	"slices"
	"strings"
)

// addition is a change that only adds events, such as pieces of text: most changes are that, and those of many sessions are
// written by a few statements.
type addition struct {
	session, token int64
	run            string
	change         int64
	before, last   int64 // numbers: of the event before the first, and of the last
	streaming      any   // a string, or nil where it stays
	data           []byte
}

// onlyAdds reports whether a change has events and nothing else, but for Streaming, which is a column of the same row.
func (c *Change) onlyAdds() bool {
	return len(c.Events) > 0 && len(c.Messages) == 0 && len(c.Calls) == 0 && c.Steps == nil && c.Todos == nil && c.ToolNames == nil &&
		c.Skills == nil && c.End == nil
}

func newAddition(l Lease, c *Change, change int64) (addition, error) {
	if err := inOrder(c.Events); err != nil {
		return addition{}, err
	}
	data, err := frame(c.Events)
	a := addition{
		session: l.id, token: l.Token, run: l.Run, change: change, before: c.Events[0].GetSeq() - 1, last: c.Events[len(c.Events)-1].GetSeq(),
		data: data,
	}
	if c.Streaming != nil {
		a.streaming = plain(*c.Streaming)
	}
	return a, err
}

// addToSessions is commitSession for several changes that only add events.
const addToSessions = `UPDATE {or fail} sessions SET last_seq = a_last, streaming = COALESCE(a_streaming, streaming), change = a_change
	FROM added WHERE id = a_session AND token = a_token AND run_id = a_run AND {is running} AND change < a_change AND last_seq = a_before`

const addColumns = `added (a_session, a_token, a_run, a_change, a_before, a_last, a_streaming)`

// append writes powers of two of changes at once, so that there are few different statements.
func (s *sqlite) append(changes []addition) []statement {
	var out []statement
	for len(changes) > 0 {
		n := maxRows
		for n > len(changes) {
			n /= 2
		}
		rows, events := make([]any, 0, 7*n), make([]any, 0, 4*n)
		for _, a := range changes[:n] {
			rows = append(rows, a.session, a.token, a.run, a.change, a.before, a.last, a.streaming)
			events = append(events, a.session, a.last, a.run, a.data)
		}
		out = append(
			out,
			statement{sql: sqliteAdd[n].sessions, args: rows, must: n},
			statement{sql: sqliteAdd[n].events, args: events},
		)
		changes = changes[n:]
	}
	return out
}

// sqliteAdd has the statements for each power of two.
var sqliteAdd = func() map[int]struct{ sessions, events string } {
	out := map[int]struct{ sessions, events string }{}
	for n := 1; n <= maxRows; n *= 2 {
		list := func(one string) string { return one + strings.Repeat(", "+one, n-1) }
		out[n] = struct{ sessions, events string }{
			`WITH ` + addColumns + ` AS (VALUES ` + list(`(?, ?, ?, ?, ?, ?, ?)`) + `) ` + addToSessions,
			`INSERT {or fail} INTO events (session, last_seq, run_id, data) VALUES ` + list(`(?, ?, ?, ?)`),
		}
	}
	return out
}()

// append passes all changes as arrays. The rows are changed, and so locked, in the order of the arrays.
func (p *postgres) append(changes []addition) []statement {
	n := len(changes)
	sessions, tokens, names := make([]int64, n), make([]int64, n), make([]int64, n)
	before, last := make([]int64, n), make([]int64, n)
	runs, streaming, data := make([]string, n), make([]any, n), make([][]byte, n)
	for i, a := range changes {
		sessions[i], tokens[i], runs[i], names[i], before[i], last[i] = a.session, a.token, a.run, a.change, a.before, a.last
		streaming[i], data[i] = a.streaming, a.data
	}
	return []statement{{
		sql: `WITH ` + addColumns + ` AS (SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[])) ` +
			addToSessions,
		args: []any{sessions, tokens, runs, names, before, last, streaming}, must: n,
	}, {
		sql: `INSERT INTO events (session, last_seq, run_id, data)
			SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bytea[])`,
		args: []any{slices.Clone(sessions), slices.Clone(last), slices.Clone(runs), data},
	}}
}
