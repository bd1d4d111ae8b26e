package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// maxPrompt bounds what a run is told of a prompt, in bytes, and maxWhole what a client is.
	maxPrompt = 16 << 10
	maxWhole  = 8 << 20
	// maxArguments bounds the arguments of a prompt, and maxLabel and maxAbout what is said of each, in bytes.
	maxArguments = 64
	maxLabel     = 256
	maxAbout     = 1 << 10
)

// Prompt is one of a saved server's, as clients are told of it.
type Prompt struct {
	// Key names the prompt for good.
	Key string
	// Server is the name of the configuration, and Name what the server calls the prompt.
	Server, Name string
	// Definition are the members of the MCP prompt object but for the name, without the braces: checked and bounded.
	Definition []byte
}

// Prompts returns the prompts of a user's saved servers, and says which servers did not list theirs.
func (s *Source) Prompts(ctx context.Context, user ids.UserID) (list []Prompt, problems []string, err error) {
	configs, err := s.servers(ctx, tool.Scope{User: user})
	if err != nil {
		return nil, nil, err
	}
	parts := make([][]Prompt, len(configs))
	failed := make([]string, len(configs))
	var wg sync.WaitGroup
	for i, config := range configs {
		wg.Go(func() {
			srv := s.pool.take(user, config)
			defer srv.giveBack()
			listed, err := srv.listPrompts(ctx)
			if err != nil {
				failed[i] = s.problem(ctx, config, err)
			}
			parts[i] = srv.describe(listed)
		})
	}
	wg.Wait()
	for i := range configs {
		list = append(list, parts[i]...)
		if failed[i] != "" {
			problems = append(problems, failed[i])
		}
	}
	return list, problems, nil
}

// describe leaves out prompts whose names nobody could read, and the second of two that have one name.
func (s *server) describe(listed []*sdk.Prompt) (list []Prompt) {
	seen := map[string]bool{}
	for _, p := range listed {
		if toolname.Check(p.Name) != nil || seen[p.Name] || len(p.Arguments) > maxArguments || slices.Contains(p.Arguments, nil) {
			continue
		}
		seen[p.Name] = true
		server := s.config.GetName()
		list = append(list, Prompt{Key: tool.PromptKey(server, p.Name), Server: server, Name: p.Name, Definition: s.define(p)})
	}
	return list
}

// define marks what a server says of a prompt as its words.
func (s *server) define(p *sdk.Prompt) []byte {
	about := "A prompt of the MCP server " + tool.Quote(s.config.GetName(), toolname.MaxBytes)
	if text := strings.TrimSpace(p.Description); text == "" {
		about += ", which does not describe it."
	} else {
		about += ", which describes it so: " + tool.Quote(text, maxDescription)
	}
	d := struct {
		Title       string               `json:"title,omitempty"`
		Description string               `json:"description"`
		Arguments   []sdk.PromptArgument `json:"arguments,omitempty"`
	}{Title: brief(p.Title, maxLabel), Description: about}
	for _, a := range p.Arguments {
		d.Arguments = append(d.Arguments, sdk.PromptArgument{
			Name: a.Name, Title: brief(a.Title, maxLabel), Description: brief(a.Description, maxAbout), Required: a.Required,
		})
	}
	raw, err := json.Marshal(d)
	if err != nil || len(raw) < 2 {
		return []byte(`"description":""`) // cannot happen: they are texts
	}
	return raw[1 : len(raw)-1]
}

func brief(text string, most int) string { return tool.Cut(tool.CleanText(text), most) }

// Prompt gets a prompt by its key: the members of a GetPromptResult without the braces. The error is an *[errs.Error] for a request that
// is wrong, and an *[Error] for a server that fails.
func (s *Source) Prompt(ctx context.Context, user ids.UserID, key string, arguments map[string]string) ([]byte, error) {
	configs, err := s.servers(ctx, tool.Scope{User: user})
	if err != nil {
		return nil, err
	}
	var failed error
	for _, config := range configs {
		if !tool.MayBePromptOf(key, config.GetName()) {
			continue
		}
		got, found, err := s.promptOf(ctx, user, config, key, arguments)
		if found {
			return got, err
		}
		if err != nil {
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, errs.New(errs.InvalidArgument, "no saved server has this prompt now")
}

// promptOf asks one server; found says that the prompt is its.
func (s *Source) promptOf(ctx context.Context, user ids.UserID, config Server, key string, arguments map[string]string) (got []byte, found bool, err error) {
	srv := s.pool.take(user, config)
	defer srv.giveBack()
	is := func(p *sdk.Prompt) bool { return tool.PromptKey(config.GetName(), p.Name) == key }
	list := last(srv.server, &srv.memory.prompts)
	i := slices.IndexFunc(list, is)
	if i < 0 {
		if list, err = srv.listPrompts(ctx); err != nil {
			return nil, false, of(config, err)
		}
		if i = slices.IndexFunc(list, is); i < 0 {
			return nil, false, nil
		}
	}
	if err := checkArguments(list[i], arguments); err != nil {
		return nil, true, err
	}
	answer, err := srv.getPrompt(ctx, list[i].Name, arguments)
	if err != nil {
		return nil, true, of(config, err)
	}
	got, err = shown(answer)
	return got, true, of(config, err)
}

// of says whose error it is.
func of(config Server, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind(err), Message: "MCP server " + config.GetName() + ": " + err.Error(), Err: err}
}

// checkArguments refuses arguments that the prompt does not take, and those that lack.
func checkArguments(p *sdk.Prompt, given map[string]string) error {
	takes := map[string]bool{}
	for _, a := range p.Arguments {
		if a == nil {
			continue
		}
		takes[a.Name] = true
		if _, ok := given[a.Name]; !ok && a.Required {
			return errs.New(errs.InvalidArgument, "the prompt needs the argument %s", tool.Quote(a.Name, maxLabel))
		}
	}
	for name := range given {
		if !takes[name] {
			return errs.New(errs.InvalidArgument, "the prompt has no argument %s", tool.Quote(name, maxLabel))
		}
	}
	return nil
}

func (s *server) getPrompt(ctx context.Context, name string, arguments map[string]string) (got *sdk.GetPromptResult, err error) {
	err = s.ask(ctx, 2*maxWhole, func(ctx context.Context, sess *session, _ *flight) (err error) {
		got, err = sess.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: arguments})
		return err
	})
	return got, err
}

// prompt returns the text of one of the server's prompts, for a run.
func (s *server) prompt(ctx context.Context, name string) (string, error) {
	got, err := s.getPrompt(ctx, name, nil)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range got.Messages {
		if text, ok := m.Content.(*sdk.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return tool.Cut(strings.Join(texts, "\n\n"), maxPrompt), nil
}

// shown is a prompt as clients are given it: the server's words, cleaned, and nothing but messages.
func shown(got *sdk.GetPromptResult) ([]byte, error) {
	if got.NeedsInput() {
		return nil, &Error{Kind: Protocol, Message: "the prompt asks for input of a person, which it cannot be given here"}
	}
	result := struct {
		Description string               `json:"description,omitempty"`
		Messages    []*sdk.PromptMessage `json:"messages"`
	}{brief(got.Description, maxDescription), []*sdk.PromptMessage{}}
	for _, m := range got.Messages {
		if m == nil || m.Role != "user" && m.Role != "assistant" {
			continue
		}
		if c := cleaned(m.Content); c != nil {
			result.Messages = append(result.Messages, &sdk.PromptMessage{Role: m.Role, Content: c})
		}
	}
	raw, err := json.Marshal(result)
	switch {
	case err != nil:
		return nil, &Error{Kind: Protocol, Message: "the prompt cannot be read", Err: err}
	case len(raw) > maxWhole:
		return nil, &Error{Kind: TooMuch, Message: fmt.Sprintf("the prompt has more than %d MiB", maxWhole>>20)}
	}
	return raw[1 : len(raw)-1], nil
}

// cleaned is a content without what is for others than the reader; nil for none of the known.
func cleaned(content sdk.Content) sdk.Content {
	switch c := content.(type) {
	case *sdk.TextContent:
		return &sdk.TextContent{Text: tool.CleanText(c.Text)}
	case *sdk.ImageContent:
		return &sdk.ImageContent{Data: c.Data, MIMEType: c.MIMEType}
	case *sdk.AudioContent:
		return &sdk.AudioContent{Data: c.Data, MIMEType: c.MIMEType}
	case *sdk.ResourceLink:
		return &sdk.ResourceLink{URI: c.URI, Name: c.Name, Title: c.Title, Description: brief(c.Description, maxAbout), MIMEType: c.MIMEType}
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil {
			return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: r.URI, MIMEType: r.MIMEType, Text: tool.CleanText(r.Text), Blob: r.Blob}}
		}
	}
	return nil
}
