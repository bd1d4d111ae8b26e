package store

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// ToolName is a name by which MCP clients call a tool of a device.
type ToolName struct {
	Name string
	Node ids.NodeID
	Tool string // its name at the node
}

// MaxToolNames is how many names a user may have; ten nodes with as many tools as one may have take half of them.
const MaxToolNames = 20_000

// ClaimNames binds those names of a user that are free, and returns the bindings of all that were given.
func (s *Store) ClaimNames(ctx context.Context, user ids.UserID, claims []ToolName) (held []ToolName, err error) {
	wanted := make(map[string]bool, len(claims))
	rows := make([][]any, 0, len(claims))
	for _, c := range claims {
		if !wanted[c.Name] {
			wanted[c.Name] = true
			rows = append(rows, []any{string(user), plain(c.Name), plain(string(c.Node)), plain(c.Tool)})
		}
	}
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		all, err := s.toolNames(ctx, user)
		if err != nil {
			return err
		}
		if len(all)+len(rows) <= MaxToolNames {
			insert := inserts("INSERT INTO tool_names (user_id, name, node, tool)", "ON CONFLICT (user_id, name) DO NOTHING", rows)
			if err := s.db.write(ctx, insert); err != nil {
				return err
			}
			if all, err = s.toolNames(ctx, user); err != nil {
				return err
			}
		}
		held = held[:0]
		for _, n := range all {
			if wanted[n.Name] {
				held = append(held, n)
			}
		}
		return nil
	})
	return held, err
}

// ListNames returns all names of a user.
func (s *Store) ListNames(ctx context.Context, user ids.UserID) (all []ToolName, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) (err error) {
		all, err = s.toolNames(ctx, user)
		return err
	})
	return all, err
}

func (s *Store) toolNames(ctx context.Context, user ids.UserID) (all []ToolName, err error) {
	err = s.db.read(ctx, []statement{{
		sql: `SELECT name, node, tool FROM tool_names WHERE user_id = ?`, args: []any{string(user)},
		row: func(scan func(...any) error) error {
			var n ToolName
			err := scan(&n.Name, &n.Node, &n.Tool)
			all = append(all, n)
			return err
		},
	}})
	return all, err
}
