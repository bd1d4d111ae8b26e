package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/memory"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Memories keeps what users' agents remember (package memory). Errors are *errs.Error, or the context's.
type Memories interface {
	List(ctx context.Context, user ids.UserID) ([]memory.Item, error)
	Save(ctx context.Context, user ids.UserID, m memory.Item) (memory.Item, error)
	Delete(ctx context.Context, user ids.UserID, id string) error
}

// NewMemory returns the tools save_memory, search_memory and delete_memory of a run that belongs to a project; "" for none.
func NewMemory(kept Memories, project string) []tool.Tool {
	m := memories{kept, project}
	spec := func(name string, reads bool, description, parameters string) tool.Spec {
		return tool.Spec{
			Name: name, Description: description, Parameters: json.RawMessage(parameters),
			Layer: tool.Builtin, Category: tool.Memory, ReadOnly: reads,
		}
	}
	return []tool.Tool{
		function[saveMemory]{spec("save_memory", false,
			"Remembers something for later conversations: one short statement that will still be of use. Never a password, a key or a token.",
			`{"type":"object","required":["content"],"properties":{"content":{"type":"string","description":"At most 2000 characters"},`+
				`"type":{"type":"string","enum":["preference","fact","skill","habit","event","context","constraint","decision"],"description":"fact where it is left out"},`+
				`"scope":{"type":"string","enum":["user","project","session"],"description":"user where it is left out: for all conversations"}}}`), m.save},
		function[searchMemory]{spec("search_memory", true,
			"Looks up what was remembered in earlier conversations, by the words of a query.",
			`{"type":"object","required":["query"],"properties":{"query":{"type":"string"},"top_k":{"type":"integer","description":"How many, 5 where it is left out"}}}`), m.search},
		function[deleteMemory]{spec("delete_memory", false,
			"Forgets one thing that was remembered, for good.",
			`{"type":"object","required":["id"],"properties":{"id":{"type":"string","description":"As search_memory shows it"}}}`), m.delete},
	}
}

type memories struct {
	kept    Memories
	project string
}

type saveMemory struct {
	Content string `json:"content"`
	Type    string `json:"type"`
	Scope   string `json:"scope"`
}

func (m memories) save(ctx context.Context, in tool.Invocation, args saveMemory) (tool.Result, error) {
	kept, err := m.kept.Save(ctx, in.User, memory.Item{
		Content: args.Content, Type: args.Type, Scope: args.Scope, Project: m.project, Session: string(in.Session),
		Source: memory.ByAgent, SaidIn: string(in.Session),
	})
	if err != nil {
		return refused(ctx, err)
	}
	return textResult("Remembered as %s (%s, %s).", kept.ID, kept.Scope, kept.Type), nil
}

type searchMemory struct {
	Query string `json:"query"`
	TopK  *int   `json:"top_k"`
}

func (m memories) search(ctx context.Context, in tool.Invocation, args searchMemory) (tool.Result, error) {
	most := 5
	if args.TopK != nil {
		most = *args.TopK
	}
	if most < 1 || most > 50 {
		return tool.Result{}, invalid("arguments.top_k must be from 1 to 50")
	}
	items, err := m.kept.List(ctx, in.User)
	if err != nil {
		return refused(ctx, err)
	}
	seen := memory.About{Project: m.project, Session: string(in.Session)}.Seen(items)
	var b strings.Builder
	for _, hit := range memory.Search(seen, args.Query, most) {
		fmt.Fprintf(&b, "%s (%s, %s): %s\n", hit.ID, hit.Scope, hit.Type, tool.Quote(hit.Content, maxRead))
	}
	if b.Len() == 0 {
		return textResult("Nothing that is remembered shares a word with this query."), nil
	}
	return tool.Result{Text: b.String()}, nil
}

type deleteMemory struct {
	ID string `json:"id"`
}

func (m memories) delete(ctx context.Context, in tool.Invocation, args deleteMemory) (tool.Result, error) {
	if err := m.kept.Delete(ctx, in.User, args.ID); err != nil {
		return refused(ctx, err)
	}
	return textResult("Forgotten."), nil
}
