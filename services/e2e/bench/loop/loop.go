package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// Options are what a Loop works with.
type Options struct {
	// BaseURL is the endpoint, up to /v1.
	BaseURL string
	// Ask is asked first: the user's message and the answers to it follow its messages.
	Ask openai.ChatCompletionRequest
	// Call runs one call of a user's and returns its result.
	Call func(ctx context.Context, user, name, args string) (string, error)
}

// Loop runs agents. It is safe for concurrent use.
type Loop struct {
	Options
	client    *openai.Client
	transport *http.Transport
}

// New returns a Loop. Close it.
func New(o Options) *Loop {
	l := &Loop{Options: o, transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}
	config := openai.DefaultConfig("")
	config.BaseURL = o.BaseURL
	config.HTTPClient = &http.Client{Transport: reusing{l.transport}}
	l.client = openai.NewClientWithConfig(config)
	return l
}

// Close lets go of the connections.
func (l *Loop) Close() { l.transport.CloseIdleConnections() }

// Hear is told of a run while it goes on.
type Hear struct {
	Text   func(piece string) error
	Called func(id, name, args string) error
	Result func(id, name, result string) error
}

// Run asks the model until it calls nothing any more, and returns its last answer.
func (l *Loop) Run(ctx context.Context, user, message string, hear Hear) (string, error) {
	req := l.Ask
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: message})
	for {
		answer, err := l.ask(ctx, req, hear)
		if err != nil || len(answer.ToolCalls) == 0 {
			return answer.Content, err
		}
		req.Messages = append(req.Messages, answer)
		for _, c := range answer.ToolCalls {
			if err := hear.Called(c.ID, c.Function.Name, c.Function.Arguments); err != nil {
				return "", err
			}
			result, err := l.Call(ctx, user, c.Function.Name, c.Function.Arguments)
			if err != nil {
				return "", fmt.Errorf("%s: %w", c.Function.Name, err)
			}
			if err := hear.Result(c.ID, c.Function.Name, result); err != nil {
				return "", err
			}
			req.Messages = append(req.Messages,
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: result, ToolCallID: c.ID})
		}
	}
}

// ask streams one answer.
func (l *Loop) ask(ctx context.Context, req openai.ChatCompletionRequest, hear Hear) (openai.ChatCompletionMessage, error) {
	answer := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant}
	stream, err := l.client.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return answer, err
	}
	defer func() { _ = stream.Close() }() // what is left of it nobody needs
	var text strings.Builder
	for {
		chunk, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			answer.Content = text.String()
			return answer, nil
		case err != nil:
			return answer, err
		case len(chunk.Choices) == 0:
			continue
		}
		delta := chunk.Choices[0].Delta
		if delta.Content != "" {
			text.WriteString(delta.Content)
			if err := hear.Text(delta.Content); err != nil {
				return answer, err
			}
		}
		for _, c := range delta.ToolCalls {
			for len(answer.ToolCalls) <= *c.Index {
				answer.ToolCalls = append(answer.ToolCalls, openai.ToolCall{Type: openai.ToolTypeFunction})
			}
			whole := &answer.ToolCalls[*c.Index]
			whole.ID += c.ID
			whole.Function.Name += c.Function.Name
			whole.Function.Arguments += c.Function.Arguments
		}
	}
}

// reusing reads bodies to their end when they are closed, for net/http closes the connection of one that was not.
type reusing struct{ http.RoundTripper }

func (r reusing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = drained{resp.Body}
	}
	return resp, err
}

type drained struct{ io.ReadCloser }

// Close does not make anybody wait for the few bytes that are left.
func (d drained) Close() error {
	go func() {
		_, _ = io.Copy(io.Discard, d.ReadCloser)
		_ = d.ReadCloser.Close()
	}()
	return nil
}
