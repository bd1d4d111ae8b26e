package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// callTimeout is how long one call may take, with all its requests.
const callTimeout = 60 * time.Second

// action is one thing that can be done at a provider.
type action struct {
	spec tool.Spec
	run  func(ctx context.Context, c *client, args json.RawMessage) (tool.Result, error)
}

// actions are the actions of each provider.
var actions = map[string][]action{
	GitHub: githubActions, Gmail: gmailActions, GoogleDrive: driveActions, Slack: slackActions, Notion: notionActions,
}

// reads and writes define an action: its name, what it is for, its parameters (the properties of a JSON Schema, and which
// are required), and what it does with arguments of type A.
func reads[A any](name, description, properties string, required []string, run func(context.Context, *client, A) (tool.Result, error)) action {
	a := writes(name, description, properties, required, run)
	a.spec.ReadOnly = true
	return a
}

func writes[A any](name, description, properties string, required []string, run func(context.Context, *client, A) (tool.Result, error)) action {
	schema := map[string]any{"type": "object", "properties": json.RawMessage(properties)}
	if len(required) > 0 {
		schema["required"] = required
	}
	parameters, err := json.Marshal(schema)
	if err != nil {
		panic("oauth: the properties of " + name + " are not JSON") // at start, in every test
	}
	return action{
		spec: tool.Spec{
			Name: name, Description: description, Parameters: parameters,
			Layer: tool.OAuth, Category: tool.Service, Timeout: callTimeout,
		},
		run: func(ctx context.Context, c *client, raw json.RawMessage) (tool.Result, error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return tool.Result{}, invalid("the arguments do not fit the tool's parameters")
			}
			return run(ctx, c, args)
		},
	}
}

// bound is an action for one user.
type bound struct {
	action
	client *client
}

// Spec says what the tool is.
func (b *bound) Spec() tool.Spec {
	s := b.spec
	s.Provider = b.client.provider.name
	return s
}

// Specs are the tools of all providers.
func Specs() (specs []tool.Spec) {
	for _, list := range actions {
		for _, a := range list {
			specs = append(specs, a.spec)
		}
	}
	return specs
}

// Call runs the action.
func (b *bound) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	args := in.Args
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	if err := tool.CheckArguments(b.spec, args); err != nil {
		return tool.Result{}, err
	}
	result, err := b.run(ctx, b.client, args)
	var refused *answerError
	if errors.As(err, &refused) {
		result, err = tool.Result{Text: refused.message, IsError: true}, nil
	}
	result.Text = tool.CleanText(result.Text)
	return result, err
}

func invalid(message string) error { return &tool.Failure{Outcome: tool.Invalid, Message: message} }

// under joins path segments that come from arguments, each escaped; "", "." and ".." are refused.
func under(prefix string, segments ...string) (string, error) {
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return "", invalid("an identifier must not be empty, \".\" or \"..\"")
		}
		prefix += "/" + url.PathEscape(s)
	}
	return prefix, nil
}

// query builds a query of the parameters that are not empty.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// within limits a number of items to what a provider allows.
func within(n, deflt, most int) int {
	if n <= 0 {
		return deflt
	}
	return min(n, most)
}

// show returns a value as the model gets it: compact JSON, without escapes for HTML.
func show(v any) tool.Result {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return tool.Result{IsError: true, Text: "The answer cannot be shown."}
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n")}
}
