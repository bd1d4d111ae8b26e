package toolbox

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// atOnce is how many tools are read and sealed at a time.
const atOnce = 200

// SealAll seals the addresses of tools that were saved before addresses were sealed, so that none is left in plain text. Several
// pods may do so at once; a tool that cannot be sealed is logged.
func (s *Saved) SealAll(ctx context.Context) error {
	var last store.SavedTool
	for {
		tools, err := s.store.ToolsInClear(ctx, last, atOnce)
		if err != nil || len(tools) == 0 {
			return err
		}
		for _, last = range tools {
			s.seal(ctx, last)
		}
	}
}

// seal seals the address of one tool. It skips a tool whose secrets cannot be opened: their key is gone, and the user has to
// delete the tool.
func (s *Saved) seal(ctx context.Context, t store.SavedTool) {
	o, sec, err := s.codec.read(t)
	if err == nil {
		err = s.codec.write(&t, o, sec)
	}
	if err == nil {
		err = s.store.SealTool(ctx, t)
	}
	if err != nil {
		s.log.ErrorContext(ctx, "the address of a saved tool could not be encrypted; it stays in plain text", "tool", t.ID, "error", err)
	}
}
