package llm

import (
	"encoding/json"
	"math"
	"net/url"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// wire is a request as it is sent.
type wire struct {
	openai.ChatCompletionRequest
	tools []byte // what its member tools will be
}

func newWire(e Endpoint, r Request) wire {
	w := wire{ChatCompletionRequest: openai.ChatCompletionRequest{
		Model:       e.Model,
		Messages:    make([]openai.ChatCompletionMessage, len(r.Messages)),
		Temperature: temperature(e),
	}}
	for i, m := range r.Messages {
		w.Messages[i] = message(m)
	}
	return w
}

func (w *wire) askUsage(ask bool) {
	w.StreamOptions = nil
	if ask {
		w.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
}

// message keeps empty content, except that of an assistant that called tools: endpoints insist on content, and the library
// drops it if it is empty.
func message(m Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: c.ID, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: c.Name, Arguments: arguments(c.Args)},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = "(empty)"
	}
	return out
}

// arguments are sent back as the model wrote them, unless they are not JSON: endpoints that parse them would refuse the whole
// conversation.
func arguments(args string) string {
	if !json.Valid([]byte(args)) {
		return "{}"
	}
	return args
}

// temperature is 0 if the endpoint's default is to be used: for reasoning models, for which endpoints and the library refuse
// any other.
func temperature(e Endpoint) float32 {
	if e.Temperature == nil {
		return 0
	}
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(e.Model, family) {
			return 0
		}
	}
	if *e.Temperature == 0 {
		return math.SmallestNonzeroFloat32 // the library leaves out a 0
	}
	return float32(*e.Temperature)
}

var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// schema replaces a broken schema of a tool, which would make the endpoint refuse the whole request.
func schema(parameters json.RawMessage) json.RawMessage {
	if !json.Valid(parameters) {
		return noParameters
	}
	return parameters
}

// isHTTP reports whether raw is the URL of a host over http or https.
func isHTTP(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// base is the address to which the library appends its path. People also enter the address with that path.
func base(address string) string {
	return strings.TrimSuffix(strings.TrimRight(address, "/"), "/chat/completions")
}
