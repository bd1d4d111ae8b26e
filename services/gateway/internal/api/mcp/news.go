package mcp

import (
	"context"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/agents"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// topics are what a stream tells of.
type topics struct {
	tools, prompts bool
	tasks          string // ids of tasks as JSON; empty for none
	// screens says whether a device's screenshot is one of them, by its URI; nil for none.
	screens func(uri string) bool
	uris    []string // what was agreed of screens, in a request that names them
}

// everything is what the stream of a session may tell of.
func (a *API) everything(from *catalogue.Request, session string) topics {
	t := topics{tools: true, prompts: a.Prompts != nil && agents.Asked(from)}
	if a.Files != nil && agents.Asked(from) {
		t.screens = func(uri string) bool {
			_, ok := a.subscribable(from, uri)
			return ok && a.Wishes.Has(session, uri)
		}
	}
	return t
}

// agree returns what of the wanted notifications the client is told.
func (a *API) agree(from *catalogue.Request, wanted []byte) topics {
	t := topics{tools: string(wire.Member(wanted, "toolsListChanged")) == "true"}
	if !agents.Asked(from) {
		return t
	}
	t.prompts = a.Prompts != nil && string(wire.Member(wanted, "promptsListChanged")) == "true"
	if a.Files == nil {
		return t
	}
	if t.uris = a.screensWanted(from, wire.Member(wanted, "resourceSubscriptions")); len(t.uris) > 0 {
		t.screens = func(uri string) bool { return slices.Contains(t.uris, uri) }
	}
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
	if len(t.uris) > 0 {
		b = append(b, `"resourceSubscriptions":[`...)
		for _, uri := range t.uris {
			b = append(jsonrpc.AppendString(b, uri), ',')
		}
		b = append(b[:len(b)-1], "],"...)
	}
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

// news says what has changed; a channel is nil where nobody wants to know.
type news struct {
	devices, services, prompts, screens <-chan struct{}

	// changed returns the URIs of the screenshots that are others, once screens has something in it.
	changed func() []string
}

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
	if about.screens != nil {
		l, leave := a.Pictures.Follow(from.User)
		ends = append(ends, leave)
		n.screens = l.News
		n.changed = func() (uris []string) {
			for _, node := range l.Changed() {
				if uri := screenURI(node); about.screens(uri) {
					uris = append(uris, uri)
				}
			}
			return uris
		}
	}
	return n, func() {
		for _, end := range ends {
			end()
		}
	}
}
