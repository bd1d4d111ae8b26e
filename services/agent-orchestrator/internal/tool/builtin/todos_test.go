package builtin_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

func load(t testing.TB, data string) *builtin.Todos {
	t.Helper()
	todos, err := builtin.LoadTodos([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return todos
}

func TestTodos(t *testing.T) {
	t.Parallel()
	todos, store := load(t, ""), files(t)
	tools := todos.Tools(store)
	if got := call(t, tools, "read_todos", object{}); got != "[]" || todos.Take() != nil {
		t.Errorf("at first: %s", got)
	}
	got := call(t, tools, "write_todos", object{"todos": []object{
		{"content": " look  at\nit ", "status": "completed"}, {"content": "do it", "status": "in_progress"}, {"content": "check it"},
	}})
	if !strings.Contains(got, "3 entries now, 1 of them completed") || strings.Contains(got, "could not") {
		t.Error(got)
	}
	want := `[{"content":"look  at\nit","status":"completed"},{"content":"do it","status":"in_progress"},{"content":"check it","status":"pending"}]`
	if kept := todos.Take(); string(kept) != want {
		t.Errorf("kept %s", kept)
	}
	if todos.Take() != nil {
		t.Error("nothing has changed since")
	}
	if got := call(t, tools, "read_todos", object{}); got != want {
		t.Errorf("read %s", got)
	}
	_, mirror, err := store.Get(t.Context(), "ana", "todo.md")
	if err != nil || string(mirror) != "# Todo\n\n- [x] look at it\n- [ ] do it (in progress)\n- [ ] check it\n" {
		t.Errorf("%s, %v", mirror, err)
	}
	// Another pod goes on with what was kept.
	again := load(t, want)
	if got := string(again.JSON()); got != want || again.Take() != nil {
		t.Errorf("loaded %s", got)
	}
	if got := call(t, again.Tools(nil), "write_todos", object{"todos": []object{}}); !strings.Contains(got, "0 entries") || string(again.Take()) != "[]" {
		t.Error(got)
	}
}

func TestTodosRefuse(t *testing.T) {
	t.Parallel()
	todos := load(t, `[{"content":"keep me","status":"pending"}]`)
	for name, tt := range map[string]struct {
		args any
		want string
	}{
		"nothing":        {object{}, "arguments.todos is missing"},
		"no list":        {object{"todos": "x"}, "arguments.todos must be array"},
		"another status": {object{"todos": []object{{"content": "x", "status": "maybe"}}}, "todos[0].status"},
		"no content":     {object{"todos": []object{{"content": "x"}, {"content": " "}}}, "todos[1].content"},
		"a number":       {object{"todos": []object{{"content": 7}}}, "content must be string"},
		"a long one":     {object{"todos": []object{{"content": strings.Repeat("x", 1001)}}}, "todos[0].content"},
		"too many":       {object{"todos": make([]builtin.Todo, 101)}, "101 entries"},
		"no object":      {[]int{}, "JSON object"},
	} {
		if got := call(t, todos.Tools(nil), "write_todos", tt.args); !strings.HasPrefix(got, "invalid ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if todos.Take() != nil || !strings.Contains(string(todos.JSON()), "keep me") {
		t.Error("a list that was refused is kept")
	}
	if _, err := builtin.LoadTodos([]byte(`{`)); err == nil {
		t.Error("nonsense is loaded")
	}
}

// The list is kept with the run; its mirror may fail.
func TestMirrorFails(t *testing.T) {
	t.Parallel()
	todos := load(t, "")
	got := call(t, todos.Tools(broken{}), "write_todos", object{"todos": []object{{"content": "x"}}})
	if !strings.Contains(got, "1 entries now") || !strings.Contains(got, "could not be updated") || strings.Contains(got, "secret") || todos.Take() == nil {
		t.Error(got)
	}
}

func TestTodosTogether(t *testing.T) {
	t.Parallel()
	todos := load(t, "")
	tools := todos.Tools(files(t))
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			call(t, tools, "write_todos", object{"todos": []object{{"content": "x"}}})
			call(t, tools, "read_todos", object{})
			todos.Take()
		})
	}
	writers.Wait()
	if string(todos.JSON()) != `[{"content":"x","status":"pending"}]` {
		t.Errorf("%s", todos.JSON())
	}
}
