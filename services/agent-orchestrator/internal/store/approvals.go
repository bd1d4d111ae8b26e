package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// AllowedTool is one entry of a user's allow-list.
type AllowedTool struct {
	// Layer is where the tool comes from. "" is an entry that came as a name alone; it has no Source and no Fingerprint.
	Layer string
	// Source is the node's id, the MCP server's name or the OAuth provider; "" for tools of ours.
	Source string
	// Tool is the name by which its source calls it.
	Tool string
	// Fingerprint tells the tool as it was when it was allowed from what it may become; "" where nobody has seen it since.
	Fingerprint string
}

// ApprovalSettings say which calls of a user's agents ask.
type ApprovalSettings struct {
	// Mode is run_everything, use_allowlist or ask_everytime.
	Mode string
	// Allowed is sorted by Tool, Layer and Source, each of which it has once.
	Allowed []AllowedTool
	// Chosen says that the user has saved settings; else these are a new user's.
	Chosen bool
}

// useAllowlist is the approval mode of a user who has chosen none.
const useAllowlist = "use_allowlist"

// ApprovalSettings returns a user's settings; [Options.Allowed] where the user has never saved any.
func (s *Store) ApprovalSettings(ctx context.Context, user ids.UserID) (out ApprovalSettings, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = ApprovalSettings{}
		return s.db.read(ctx, []statement{{
			sql: `SELECT mode FROM users WHERE user_id = ?`, args: []any{string(user)},
			row: func(scan func(...any) error) error { return scan(&out.Mode) },
		}, {
			sql: `SELECT layer, source, tool, fingerprint FROM allowed_tools WHERE user_id = ?`, args: []any{string(user)},
			row: func(scan func(...any) error) error {
				var t AllowedTool
				err := scan(&t.Layer, &t.Source, &t.Tool, &t.Fingerprint)
				out.Allowed = append(out.Allowed, t)
				return err
			},
		}})
	})
	out.Chosen = out.Mode != ""
	if err == nil && !out.Chosen { // a user may have a row without having chosen anything: see lockUser
		out = ApprovalSettings{Mode: useAllowlist, Allowed: slices.Clone(s.allowed)}
	}
	slices.SortFunc(out.Allowed, AllowedTool.compare) // here, because databases sort by their own rules
	return out, err
}

func (t AllowedTool) compare(o AllowedTool) int {
	return cmp.Or(cmp.Compare(t.Tool, o.Tool), cmp.Compare(t.Layer, o.Layer), cmp.Compare(t.Source, o.Source))
}

// lockUser holds the row of a user until the transaction ends: what a user sets up is changed by one at a time. That there is
// a row says nothing of the user's approval settings.
func lockUser(user ids.UserID) statement {
	return statement{
		sql:  `INSERT INTO users (user_id, mode) VALUES (?, '') ON CONFLICT (user_id) DO UPDATE SET mode = users.mode`,
		args: []any{string(user)},
	}
}

// SetApprovalSettings replaces both; mode "" keeps the mode. Of two entries for one tool the last counts.
func (s *Store) SetApprovalSettings(ctx context.Context, user ids.UserID, to ApprovalSettings) error {
	statements := []statement{lockUser(user), {
		sql:  `UPDATE users SET mode = CASE WHEN ? <> '' THEN ? WHEN mode = '' THEN '` + useAllowlist + `' ELSE mode END WHERE user_id = ?`,
		args: []any{plain(to.Mode), plain(to.Mode), string(user)},
	}, {
		sql: `DELETE FROM allowed_tools WHERE user_id = ?`, args: []any{string(user)},
	}}
	seen := map[AllowedTool]bool{}
	var rows [][]any
	for _, t := range slices.Backward(to.Allowed) {
		key := AllowedTool{Layer: plain(t.Layer), Source: plain(t.Source), Tool: plain(t.Tool)}
		if !seen[key] {
			seen[key] = true
			rows = append(rows, []any{string(user), key.Layer, key.Source, key.Tool, plain(t.Fingerprint)})
		}
	}
	statements = append(statements, inserts(`INSERT INTO allowed_tools (user_id, layer, source, tool, fingerprint)`, ``, rows)...)
	return s.retry(ctx, shortPatience, func(ctx context.Context) error { return s.db.write(ctx, statements) })
}

// Pin keeps the fingerprint of a tool that was allowed before anybody had seen it. It reports false where the entry has gone,
// or has another fingerprint by now.
func (s *Store) Pin(ctx context.Context, user ids.UserID, t AllowedTool) (pinned bool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{{
			sql: `UPDATE allowed_tools SET fingerprint = ?
				WHERE user_id = ? AND layer = ? AND source = ? AND tool = ? AND fingerprint IN ('', ?)`,
			args: []any{plain(t.Fingerprint), string(user), plain(t.Layer), plain(t.Source), plain(t.Tool), plain(t.Fingerprint)},
			must: 1,
		}})
		if pinned = err == nil; errors.Is(err, errUnmet) {
			return nil
		}
		return err
	})
	return pinned, err
}
