package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// Search mode shows three tools whatever there is: `devices`, and two that find and call the others.

const findDefinition = `"title":"Find tools","description":"Finds tools by words of their names and descriptions, and returns their definitions. ` +
	`Call what you find with call_tool.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words to look for; empty for all tools"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":50}},"required":["query"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}`

const callDefinition = `"title":"Call a tool","description":"Calls a tool by the name that find_tools or devices shows. A tool's own name does, too, ` +
	`where node says on which device, or one device has such a tool.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},` +
	`"node":{"type":"string","description":"Id of the device, as devices shows it"},"arguments":{"type":"object"}},"required":["name"]}`

// finders are the tools of search mode, over what a view shows without it.
func (a *API) finders(whole *catalogue.View) []catalogue.Tool {
	tools := []catalogue.Tool{
		{Name: "find_tools", Definition: []byte(findDefinition), ReadOnly: true, Always: true, Run: func(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
			return find(ctx, whole, c)
		}},
		{Name: "call_tool", Definition: []byte(callDefinition), Always: true, Run: func(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
			return callFound(ctx, whole, c)
		}},
	}
	for _, s := range a.Sources {
		if t, ok, _ := s.Find(context.Background(), &whole.Request, "devices"); ok {
			return append(tools, t)
		}
	}
	return tools
}

// most is how many tools find_tools returns where its caller does not say.
const most = 10

func find(ctx context.Context, whole *catalogue.View, c *catalogue.Call) (catalogue.Result, error) {
	var asked struct {
		Query string `json:"query"`
		Limit int32  `json:"limit"`
	}
	if bad := arguments(c, &asked); bad != nil {
		return *bad, nil
	}
	tools, err := whole.List(ctx)
	if err != nil {
		return catalogue.Result{}, err
	}
	if asked.Limit < 1 || asked.Limit > 50 {
		asked.Limit = most
	}
	tools = matching(tools, asked.Query)
	b := []byte(`{"tools":[`)
	for i := range tools[:min(int(asked.Limit), len(tools))] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTool(b, &tools[i])
	}
	b = append(b, fmt.Sprintf(`],"found":%d}`, len(tools))...)
	text := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), string(b))
	return catalogue.Result{Members: [][]byte{append(text, `}],"isError":false`...)}}, nil
}

// matching returns the tools that have some word of a query, those with the most words first.
func matching(tools []catalogue.Tool, query string) []catalogue.Tool {
	words := strings.Fields(strings.ToLower(query))
	score := make(map[string]int, len(tools))
	for i := range tools {
		name, text := strings.ToLower(tools[i].Name), strings.ToLower(string(tools[i].Definition))
		for _, w := range words {
			if strings.Contains(name, w) {
				score[tools[i].Name] += 3
			}
			if strings.Contains(text, w) {
				score[tools[i].Name]++
			}
		}
	}
	if len(words) > 0 {
		tools = slices.DeleteFunc(tools, func(t catalogue.Tool) bool { return score[t.Name] == 0 })
	}
	slices.SortStableFunc(tools, func(a, b catalogue.Tool) int { return cmp.Compare(score[b.Name], score[a.Name]) })
	return tools
}

// callFound calls a tool of the whole view, with its filters: what is hidden there is refused here.
func callFound(ctx context.Context, whole *catalogue.View, c *catalogue.Call) (catalogue.Result, error) {
	var asked struct {
		Name      string         `json:"name"`
		Node      string         `json:"node"`
		Arguments jsonrpc.Object `json:"arguments"`
	}
	if bad := arguments(c, &asked); bad != nil {
		return *bad, nil
	}
	if asked.Name == "" {
		return toolError("The arguments are wrong: name is required, a string that is not empty", ""), nil
	}
	tool, err := choose(ctx, whole, c, asked.Name, asked.Node)
	if err != nil {
		return catalogue.Result{}, err
	}
	if tool == nil {
		return toolError(fmt.Sprintf("There is no tool %.128q. Find one with find_tools.", asked.Name), ""), nil
	}
	inner := *c
	inner.Request, inner.Arguments = whole.Request, asked.Arguments
	return tool.Run(ctx, &inner)
}

// choose returns the tool that is meant; nil for none. Where several devices have it, the person is asked.
func choose(ctx context.Context, whole *catalogue.View, c *catalogue.Call, name, node string) (*catalogue.Tool, error) {
	if node == "" {
		if t, ok, err := whole.Find(ctx, name); err != nil || ok {
			return &t, err
		}
	}
	tools, err := whole.List(ctx)
	if err != nil {
		return nil, err
	}
	tools = slices.DeleteFunc(tools, func(t catalogue.Tool) bool {
		return t.Plain != name && t.Name != name || node != "" && string(t.Node) != node
	})
	switch len(tools) {
	case 0:
		return nil, nil
	case 1:
		return &tools[0], nil
	}
	return selected(ctx, c, name, tools)
}

// selected asks which of several devices is meant.
func selected(ctx context.Context, c *catalogue.Call, name string, tools []catalogue.Tool) (*catalogue.Tool, error) {
	schema := []byte(`{"type":"object","properties":{"node":{"type":"string","title":"Device","enum":[`)
	var nodes []string
	for i := range tools {
		if i > 0 {
			schema = append(schema, ',')
		}
		schema = jsonrpc.AppendString(schema, string(tools[i].Node))
		nodes = append(nodes, string(tools[i].Node))
	}
	answer, err := c.Ask(ctx, catalogue.Question{
		Key: "node", Message: fmt.Sprintf("%d devices have the tool %.64q. On which one shall it run?", len(tools), name),
		Schema: append(schema, `]}},"required":["node"]}`...),
	})
	refused := errs.New(errs.RequiresSelection, "%d devices have the tool %.64q: say in node which one is meant, one of %s", len(tools), name, strings.Join(nodes, ", "))
	switch {
	case errors.Is(err, catalogue.ErrCannotAsk):
		return nil, refused
	case err != nil:
		return nil, err
	case answer.Action != catalogue.Accept:
		refused.Message = "the person did not choose a device"
		return nil, refused
	}
	chosen := jsonrpc.StringMember(answer.Content, "node")
	for i := range tools {
		if string(tools[i].Node) == chosen {
			return &tools[i], nil
		}
	}
	return nil, refused
}

// arguments reads those of a tool of ours, or returns the result that says what is wrong with them.
func arguments(c *catalogue.Call, into any) *catalogue.Result {
	raw := c.Arguments
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if err := jsonrpc.Decode(raw, into); err != nil {
		bad := toolError("The arguments are wrong: "+err.Error(), "")
		return &bad
	}
	return nil
}
