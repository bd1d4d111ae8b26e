package agents

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
)

// Prompter has the prompts of the MCP servers that users have saved (package agentapi).
type Prompter interface {
	ServicePrompts(ctx context.Context, user ids.UserID) ([]*agentv1.ServicePrompt, error)
	// ServicePrompt returns the members of the result, or a sentence that says why the server did not give the prompt. Wrong
	// arguments are errs.InvalidArgument.
	ServicePrompt(ctx context.Context, user ids.UserID, key string, arguments map[string]string) (result []byte, problem string, err error)
}

// Prompts has the prompts of the MCP servers that the user has saved, under names that are bound like those of tools.
type Prompts struct {
	Prompter Prompter
	Book     *names.Book
	Logger   *slog.Logger
}

// Prompt is one as it is listed.
type Prompt struct {
	Name string
	// Definition are the members of the MCP prompt object but for the name.
	Definition []byte
}

// ofPrompt reports whether a key is that of a prompt; no tool has such a key.
func ofPrompt(key string) bool { return strings.HasPrefix(key, "prompt_") }

// List returns the prompts, ordered by name. Where they cannot be listed now, there are none.
func (p *Prompts) List(ctx context.Context, r *catalogue.Request) []Prompt {
	within, stop := context.WithTimeout(ctx, listWithin)
	defer stop()
	listed, err := p.Prompter.ServicePrompts(within, r.User)
	if err != nil {
		p.Logger.WarnContext(ctx, "the prompts of a user's services cannot be listed", "error", err)
		return nil
	}
	of := make([]names.Service, len(listed))
	for i, l := range listed {
		of[i] = names.Service{Server: l.GetService(), Tool: l.GetName(), Key: l.GetKey()}
	}
	var list []Prompt
	for i, name := range p.Book.Services(ctx, r.User, of) {
		if name != "" && sees(r, name) {
			list = append(list, Prompt{name, listed[i].GetDefinition()})
		}
	}
	slices.SortFunc(list, func(a, b Prompt) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// sees reports whether a client's URL leaves a prompt.
func sees(r *catalogue.Request, name string) bool {
	return r.Filter.Tools == nil || slices.Contains(r.Filter.Tools, name)
}

// ErrNoPrompt says that a name is no prompt's.
var ErrNoPrompt = errors.New("no such prompt")

// Get returns the members of a prompt's result, or a sentence that says why the server did not give it. The error may be [ErrNoPrompt] or
// errs.InvalidArgument.
func (p *Prompts) Get(ctx context.Context, r *catalogue.Request, name string, arguments map[string]string) (result []byte, problem string, err error) {
	key, ok := "", false
	if names.IsLong(name) && sees(r, name) {
		key, ok = keyOf(ctx, p.Book, r.User, name)
	}
	if !ok || !ofPrompt(key) {
		return nil, "", ErrNoPrompt
	}
	return p.Prompter.ServicePrompt(ctx, r.User, key, arguments)
}
