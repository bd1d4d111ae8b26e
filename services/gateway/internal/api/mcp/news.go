package mcp

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/agents"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// topics are what a stream tells of.
type topics struct {
	tools, prompts bool
	tasks          string // ids of tasks as JSON; empty for none
}

// everything is what a client may be told of.
func (a *API) everything(from *catalogue.Request) topics {
	return topics{tools: true, prompts: a.Prompts != nil && agents.Asked(from)}
}

// agree returns what of the wanted notifications the client is told.
func (a *API) agree(from *catalogue.Request, wanted []byte) topics {
	t := a.everything(from)
	t.tools = t.tools && string(wire.Member(wanted, "toolsListChanged")) == "true"
	t.prompts = t.prompts && string(wire.Member(wanted, "promptsListChanged")) == "true"
	return t
}

// json is what was agreed, as the acknowledgement says it.
func (t topics) json() []byte {
	b := []byte("{")
	if t.tools {
		b = append(b, `"toolsListChanged":true,`...)
	}
	if t.prompts {
		b = append(b, `"promptsListChanged":true,`...)
	}
	if t.tasks != "" {
		b = append(append(append(b, `"taskIds":`...), t.tasks...), ',')
	}
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

// news says what has changed; a channel is nil where nobody wants to know.
type news struct{ devices, services, prompts <-chan struct{} }

// hear returns the news of a stream until stop is called.
func (a *API) hear(ctx context.Context, from *catalogue.Request, about topics) (n news, stop func()) {
	var ends []func()
	if about.tools {
		changed, leave := a.Changes.Listen(ctx, from.User)
		n.devices, ends = changed, append(ends, leave)
	}
	if a.Services != nil && agents.Asked(from) && (about.tools || about.prompts) {
		l, leave := a.Services.Listen(from.User)
		ends = append(ends, leave)
		if about.tools {
			n.services = l.Tools
		}
		if about.prompts {
			n.prompts = l.Prompts
		}
	}
	return n, func() {
		for _, end := range ends {
			end()
		}
	}
}
