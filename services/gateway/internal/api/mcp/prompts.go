package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/agents"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// The prompts of the MCP servers that a user has saved are there for clients that ask for what agents have (package agents).

// prompting are the methods of a server that has prompts.
func (a *API) prompting() map[string]method {
	if a.Prompts == nil {
		return nil
	}
	return map[string]method{
		"prompts/list": {both, auth.ReadTools, asked(a.listPrompts)},
		"prompts/get":  {both, auth.ReadTools, asked(a.getPrompt)},
	}
}

// asked serves a method for clients that ask for what agents have: to others it is not declared.
func asked(serve func(context.Context, *query)) func(context.Context, *query) {
	return func(ctx context.Context, q *query) {
		if !agents.Asked(&q.from) {
			q.fail(wire.NotFound(q.msg.Method))
			return
		}
		serve(ctx, q)
	}
}

// listPrompts answers prompts/list, in pages like those of tools/list.
func (a *API) listPrompts(ctx context.Context, q *query) {
	after, err := readCursor(wire.Member(q.msg.Params, "cursor"))
	if err != nil {
		q.fail(wire.Invalid("Invalid params: " + err.Error()))
		return
	}
	list := a.Prompts.List(ctx, &q.from)
	from, found := slices.BinarySearchFunc(list, after, func(p agents.Prompt, name string) int { return strings.Compare(p.Name, name) })
	if found {
		from++
	}
	list = list[from:]
	next := ""
	if len(list) > page {
		list = list[:page]
		next = list[page-1].Name
	}
	b := []byte(`"prompts":[`)
	for i, p := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"name":"`...), p.Name...), `",`...) // a name has nothing to escape
		b = append(append(b, p.Definition...), '}')
	}
	b = append(b, ']')
	if next != "" {
		b = append(append(append(b, `,"nextCursor":"`...), cursor(next)...), '"')
	}
	q.result(catalogue.Result{Members: [][]byte{q.hints(b)}})
}

// getPrompt answers prompts/get.
func (a *API) getPrompt(ctx context.Context, q *query) {
	name := jsonrpc.StringMember(q.msg.Params, "name")
	arguments, err := readArguments(wire.Member(q.msg.Params, "arguments"))
	if err != nil {
		q.fail(wire.Invalid("Invalid params: " + err.Error()))
		return
	}
	ctx, closed := q.cancellable(ctx)
	defer closed()
	result, problem, err := a.Prompts.Get(ctx, &q.from, name, arguments)
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // nobody waits for an answer
	case errors.Is(err, agents.ErrNoPrompt):
		q.fail(wire.Invalid(fmt.Sprintf("Unknown prompt: %.128q", name)))
	case errors.Is(err, errs.InvalidArgument):
		q.fail(wire.Invalid("Invalid params: " + reason(err)))
	case err != nil:
		q.fail(internal(err))
	case problem != "":
		q.fail(&wire.Error{Code: jsonrpc.CodeInternalError, Message: problem, Status: http.StatusOK})
	default:
		q.result(catalogue.Result{Members: [][]byte{result}})
	}
}

// readArguments reads the arguments of a prompt: an object whose values are texts.
func readArguments(raw []byte) (map[string]string, error) {
	if raw == nil || jsonrpc.IsNull(raw) {
		return nil, nil
	}
	var arguments map[string]string
	if !jsonrpc.IsObject(raw) || json.Unmarshal(raw, &arguments) != nil {
		return nil, errors.New("arguments must be an object whose values are strings")
	}
	return arguments, nil
}

// reason is what an error says, without its name.
func reason(err error) string {
	var reasoned *errs.Error
	if errors.As(err, &reasoned) {
		return reasoned.Message
	}
	return err.Error()
}
