package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// TodoFile is where a list is mirrored in the workspace (docs/protocols/zeus-agents.md#well-known-tools). All of a user's runs
// mirror into it, the last to write is seen; the list itself is the run's.
const TodoFile = "todo.md"

// Limits of a list.
const (
	maxTodos = 100
	maxTodo  = 1000 // bytes of one
)

// Todo is one entry of a list.
type Todo struct {
	Content string `json:"content"`
	// Status is pending, in_progress or completed.
	Status string `json:"status"`
}

// Todos is the todo list of one run. It is safe for concurrent use.
type Todos struct {
	mu      sync.Mutex
	list    []Todo
	changed bool
}

// LoadTodos reads a list as JSON wrote it; nil is an empty one.
func LoadTodos(data []byte) (*Todos, error) {
	t := &Todos{}
	if len(data) == 0 {
		return t, nil
	}
	if err := json.Unmarshal(data, &t.list); err != nil {
		return nil, fmt.Errorf("the todo list cannot be read: %w", err)
	}
	return t, nil
}

// JSON is the list as it is kept.
func (t *Todos) JSON() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.json()
}

// json is JSON with mu held.
func (t *Todos) json() []byte {
	data, _ := json.Marshal(append([]Todo{}, t.list...)) // [], not null
	return data
}

// Take returns the list as JSON where it has changed since the last Take, else nil.
func (t *Todos) Take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.changed {
		return nil
	}
	t.changed = false
	return t.json()
}

func (t *Todos) set(list []Todo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list, t.changed = list, true
}

// Tools returns write_todos and read_todos. A change is mirrored in files; where files is nil it is not: that of a sub-agent,
// whose list is nobody's (docs/protocols/zeus-agents.md#well-known-tools).
func (t *Todos) Tools(files Files) []tool.Tool {
	return []tool.Tool{
		function[writeTodos]{
			spec: tool.Spec{
				Name: "write_todos", Layer: tool.Builtin, Category: tool.TodoList,
				Description: "Replaces the todo list of this conversation. Use it to plan work of several steps and to keep track of it: " +
					"write the whole list whenever a step begins or is done.",
				Parameters: json.RawMessage(`{"type":"object","required":["todos"],"properties":{"todos":{"type":"array","items":{` +
					`"type":"object","required":["content","status"],"properties":{"content":{"type":"string","description":"What is to be done"},` +
					`"status":{"type":"string","enum":["pending","in_progress","completed"]}}}}}}`),
			},
			run: func(ctx context.Context, in tool.Invocation, args writeTodos) (tool.Result, error) {
				return t.write(ctx, in.User, files, args)
			},
		},
		function[struct{}]{
			spec: tool.Spec{
				Name: "read_todos", Layer: tool.Builtin, Category: tool.TodoList, ReadOnly: true,
				Description: "Reads the todo list of this conversation, as JSON.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`),
			},
			run: func(context.Context, tool.Invocation, struct{}) (tool.Result, error) {
				return tool.Result{Text: string(t.JSON())}, nil
			},
		},
	}
}

type writeTodos struct {
	Todos []Todo `json:"todos"`
}

func (t *Todos) write(ctx context.Context, user ids.UserID, files Files, args writeTodos) (tool.Result, error) {
	if len(args.Todos) > maxTodos {
		return tool.Result{}, invalid("arguments.todos has %d entries, at most %d are kept", len(args.Todos), maxTodos)
	}
	list := slices.Clone(args.Todos)
	for i := range list {
		entry := &list[i]
		if entry.Content = tool.CleanText(strings.TrimSpace(entry.Content)); entry.Content == "" || len(entry.Content) > maxTodo {
			return tool.Result{}, invalid("arguments.todos[%d].content must have 1 to %d bytes", i, maxTodo)
		}
		switch entry.Status {
		case "":
			entry.Status = "pending"
		case "pending", "in_progress", "completed":
		default:
			return tool.Result{}, invalid("arguments.todos[%d].status must be pending, in_progress or completed", i)
		}
	}
	t.set(list)
	note := ""
	if files != nil {
		// The list is kept with the run, so a mirror that fails is no reason to fail.
		if err := files.Put(ctx, user, TodoFile, "text/markdown; charset=utf-8", []byte(markdown(list))); err != nil {
			note = " " + TodoFile + " in the workspace could not be updated."
		}
	}
	return textResult("The todo list has %d entries now, %d of them completed.%s", len(list), completed(list), note), nil
}

func completed(list []Todo) (n int) {
	for _, entry := range list {
		if entry.Status == "completed" {
			n++
		}
	}
	return n
}

// markdown is a list as people read it.
func markdown(list []Todo) string {
	var b strings.Builder
	b.WriteString("# Todo\n\n")
	for _, entry := range list {
		box, note := " ", ""
		switch entry.Status {
		case "completed":
			box = "x"
		case "in_progress":
			note = " (in progress)"
		}
		fmt.Fprintf(&b, "- [%s] %s%s\n", box, strings.Join(strings.Fields(entry.Content), " "), note)
	}
	return b.String()
}
