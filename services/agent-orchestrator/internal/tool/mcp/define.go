package mcp

import (
	"encoding/json"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
)

// Definition implements [tool.Defined]. What the server says that the tool does not do is believed only where the user trusts the
// server: who is shown the definition may call such a tool without asking. The description is marked as the server's words.
func (r *remote) Definition() tooldef.Definition {
	raw, err := json.Marshal(r.listed)
	d, wrong := tooldef.Check(raw)
	if err != nil || wrong != nil {
		d = tooldef.Definition{Name: r.listed.Name, InputSchema: r.spec.Parameters}
	}
	d.Description = r.spec.Description
	if !r.server.trusted {
		d.Annotations = tooldef.Annotations{Title: d.Annotations.Title}
		if r.spec.Confirm {
			d.Annotations.DestructiveHint = &r.spec.Confirm
		}
	}
	return d
}
