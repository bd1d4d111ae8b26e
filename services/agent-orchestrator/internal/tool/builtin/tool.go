package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// function is a tool that is one function of its arguments.
type function[Args any] struct {
	spec tool.Spec
	run  func(ctx context.Context, in tool.Invocation, args Args) (tool.Result, error)
}

// Spec implements [tool.Tool].
func (f function[Args]) Spec() tool.Spec { return f.spec }

// Call implements [tool.Tool].
func (f function[Args]) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	if err := tool.CheckArguments(f.spec, in.Args); err != nil {
		return tool.Result{}, err
	}
	var args Args
	if err := json.Unmarshal(in.Args, &args); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return tool.Result{}, invalid("arguments.%s must be %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return tool.Result{}, invalid("the arguments cannot be read")
	}
	return f.run(ctx, in, args)
}

func invalid(format string, args ...any) *tool.Failure {
	return &tool.Failure{Outcome: tool.Invalid, Message: fmt.Sprintf(format, args...)}
}

func textResult(format string, args ...any) tool.Result {
	return tool.Result{Text: fmt.Sprintf(format, args...)}
}

func wrong(format string, args ...any) tool.Result {
	return tool.Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// refused is the result of a file operation that failed. Only what the caller gave up is an error.
func refused(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	var r *errs.Error
	if errors.As(err, &r) {
		return wrong("%s", r.Message), nil
	}
	return wrong("the workspace cannot be used at the moment"), nil
}

// Specs are all tools of the package, of which each run has its own.
func Specs() (specs []tool.Spec) {
	files, _ := new(FileSource).Tools(nil, tool.Scope{}) //nolint:staticcheck // it asks nobody
	for _, t := range slices.Concat(files.Tools, new(SkillSource).tools(), NewMemory(nil, ""), new(Todos).Tools(nil), []tool.Tool{NewTask(nil), NewFind(nil)}) {
		specs = append(specs, t.Spec())
	}
	return specs
}
