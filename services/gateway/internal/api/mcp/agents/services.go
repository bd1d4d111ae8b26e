package agents

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/consent"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
)

// Toolbox has the tools of the services that users have saved (package agentapi).
type Toolbox interface {
	ServiceTools(ctx context.Context, user ids.UserID) ([]*agentv1.ServiceTool, error)
	// CallService calls a tool by its key. An error that is no *[errs.Error] says that the tool may have run.
	// With a consent the answer may be an admission that lets nothing run.
	CallService(
		ctx context.Context, user ids.UserID, key string, arguments []byte, consent *agentv1.Consent, progress func(params []byte),
	) (*agentv1.CallToolResponse, error)
}

// Services has the tools of the MCP servers and OAuth connections that the user has saved. It implements [catalogue.Source].
type Services struct {
	Toolbox Toolbox
	// Book gives the tools their names, which stay theirs while a service is away.
	Book *names.Book
	// Consent admits calls.
	Consent *consent.Keeper
	Logger  *slog.Logger
}

// listWithin is how long a list waits for services. The orchestrators leave slow ones out before.
const listWithin = 3 * time.Second

// Tools implements [catalogue.Source]. Where the services cannot be listed now, there are none: the user's devices are there all the
// same.
func (s *Services) Tools(ctx context.Context, r *catalogue.Request) ([]catalogue.Tool, error) {
	within, stop := context.WithTimeout(ctx, listWithin)
	defer stop()
	listed, err := s.Toolbox.ServiceTools(within, r.User)
	if err != nil {
		s.Logger.WarnContext(ctx, "the tools of a user's services cannot be listed", "error", err)
		return nil, nil
	}
	of := make([]names.Service, len(listed))
	for i, t := range listed {
		of[i] = names.Service{Server: t.GetService(), Tool: t.GetName(), Key: t.GetKey()}
	}
	var tools []catalogue.Tool
	for i, name := range s.Book.Services(ctx, r.User, of) {
		if name == "" {
			continue
		}
		t := s.found(name, of[i].Key)
		t.Definition, t.ReadOnly = listed[i].GetDefinition(), listed[i].GetReadOnly()
		tools = append(tools, t)
	}
	return tools, nil
}

// Find implements [catalogue.Source]. No service is asked for a tool whose name is bound, unless its definition has a say in whether
// it may be called.
func (s *Services) Find(ctx context.Context, r *catalogue.Request, name string) (t catalogue.Tool, ok bool, err error) {
	if !names.IsLong(name) {
		return t, false, nil
	}
	key, ok := keyOf(ctx, s.Book, r.User, name)
	if !ok || ofPrompt(key) {
		return t, false, nil
	}
	if !r.ReadOnly {
		return s.found(name, key), true, nil
	}
	tools, err := s.Tools(ctx, r)
	if err != nil {
		return t, false, err
	}
	if i := slices.IndexFunc(tools, func(t catalogue.Tool) bool { return t.Name == name }); i >= 0 {
		return tools[i], true, nil
	}
	return s.found(name, key), true, nil
}

// keyOf returns the key to which a name is bound, at this pod or another.
func keyOf(ctx context.Context, b *names.Book, user ids.UserID, name string) (key string, ok bool) {
	if key, ok = b.Service(user, name); ok {
		return key, true
	}
	b.Ask(ctx, user, name)
	return b.Service(user, name)
}

// found is a tool of which only the name and the key are known.
func (s *Services) found(name, key string) catalogue.Tool {
	return catalogue.Tool{Name: name, Run: func(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
		return s.call(ctx, c, name, key)
	}}
}

// call runs a tool, once its user's settings allow it.
func (s *Services) call(ctx context.Context, c *catalogue.Call, name, key string) (catalogue.Result, error) {
	var answer *agentv1.CallToolResponse
	late := false
	err := s.Consent.Service(ctx, c, func(ctx context.Context, consent *agentv1.Consent) (_ *agentv1.Admission, err error) {
		ctx, stop := context.WithDeadline(ctx, c.Deadline)
		defer stop()
		answer, err = s.Toolbox.CallService(ctx, c.User, key, c.Arguments, consent, c.Progress)
		late = ctx.Err() != nil
		return answer.GetAdmission(), err
	})
	var reasoned *errs.Error
	var asked *catalogue.Asked
	var unanswered *catalogue.Unanswered
	switch {
	case err == nil:
		return served(answer)
	case ctx.Err() != nil: // the client gave the call up
		return catalogue.Result{}, ctx.Err()
	case errors.As(err, &reasoned), errors.As(err, &asked), errors.As(err, &unanswered):
		return catalogue.Result{}, err
	case late:
		return catalogue.Result{}, errs.New(errs.ToolTimeout, "%s did not answer in time", name)
	}
	return catalogue.Result{}, &catalogue.Unanswered{Message: "the agent server that ran " + name + " was lost", Outcome: errs.Unknown}
}

// served is the result of a call that was answered, or that says of itself why it was not.
func served(answer *agentv1.CallToolResponse) (catalogue.Result, error) {
	raw := answer.GetResultJson()
	if answer.GetError() != "" {
		return catalogue.Result{}, &catalogue.Unanswered{Message: answer.GetError(), Outcome: errs.Class(jsonrpc.StringMember(raw, "outcome"))}
	}
	content, structured := []byte("[]"), []byte(nil)
	jsonrpc.Members(raw, func(name, value []byte) {
		switch string(name) {
		case "content":
			content = value
		case "structuredContent":
			structured = value
		}
	})
	members := [][]byte{[]byte(`"content":`), content}
	if structured != nil {
		members = append(members, []byte(`,"structuredContent":`), structured)
	}
	failed := strconv.AppendBool([]byte(`,"isError":`), !answer.GetSuccess())
	return catalogue.Result{Members: append(members, failed)}, nil
}
