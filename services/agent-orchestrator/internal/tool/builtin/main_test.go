package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var _ builtin.Files = (*workspace.Store)(nil)

// files is an empty workspace.
func files(t testing.TB) *workspace.Store {
	t.Helper()
	s, err := workspace.Open(t.Context(), workspace.Options{URL: "mem://", MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// call runs a tool for ana with arguments that are written as JSON; the text of an error begins with "!", that of a failure
// with its outcome.
func call(t testing.TB, tools []tool.Tool, name string, args any) string {
	t.Helper()
	return callAs(t, "ana", tools, name, args)
}

func callAs(t testing.TB, user ids.UserID, tools []tool.Tool, name string, args any) string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	found := tool.Find(tools, name)
	if found == nil {
		t.Fatalf("there is no tool %s", name)
	}
	result, err := found.Call(t.Context(), tool.Invocation{User: user, Args: raw})
	var failure *tool.Failure
	switch {
	case errors.As(err, &failure):
		return failure.Outcome + " " + failure.Message
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	case result.IsError:
		return "!" + result.Text
	}
	return result.Text
}

type object map[string]any

// broken is a workspace whose storage is away.
type broken struct{ builtin.Files }

func (broken) Put(context.Context, ids.UserID, string, string, []byte) error {
	return errors.New("secret details of the storage")
}

func (broken) Get(context.Context, ids.UserID, string) (workspace.File, []byte, error) {
	return workspace.File{}, nil, errors.New("secret details of the storage")
}

// Every definition is one that model endpoints take, and names are unique.
func TestSpecs(t *testing.T) {
	t.Parallel()
	todos, err := builtin.LoadTodos(nil)
	if err != nil {
		t.Fatal(err)
	}
	source, err := builtin.New(builtin.Options{Files: files(t)})
	if err != nil {
		t.Fatal(err)
	}
	listing, err := source.Tools(t.Context(), tool.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	all := append(append(listing.Tools, todos.Tools(nil)...), builtin.NewTask(nil), builtin.NewFind(nil))
	if unique, problems := tool.Label(all); len(unique) != len(all) || len(problems) != 0 {
		t.Errorf("%q", problems)
	}
	for _, each := range all {
		spec := each.Spec()
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal(spec.Parameters, &schema); err != nil || schema.Type != "object" || schema.Properties == nil {
			t.Errorf("%s: %s, %v", spec.Name, spec.Parameters, err)
		}
		for _, name := range schema.Required {
			if schema.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", spec.Name, name)
			}
		}
		if spec.Layer != tool.Builtin || spec.Category == "" || spec.Description == "" || tool.ModelName(spec) != spec.Name || tool.PastName(spec.Name) != spec.Name || strings.Contains(spec.Name, "__") {
			t.Errorf("%+v", spec)
		}
	}
	plan := approval.Policy{RunMode: tool.ModePlan}.Offer(all)
	var names []string
	for _, each := range plan {
		names = append(names, each.Spec().Name)
	}
	if got := strings.Join(names, " "); got != "workspace_list workspace_read write_todos read_todos task find_tools" {
		t.Errorf("in plan mode: %s", got)
	}
}
