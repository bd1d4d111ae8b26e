package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// maxReply bounds what is read of an answer, in bytes.
const maxReply = 16 << 20

// client sends requests to one provider for one user.
type client struct {
	// static after construction
	source   *Source
	provider *provider
	grant    *grant
}

// request is one request to a provider's API.
type request struct {
	method string
	path   string // escaped, with the leading slash
	query  url.Values
	header map[string]string
	body   []byte
}

// answerError is an answer that reports an error, which the model is told.
type answerError struct{ message string }

func (e *answerError) Error() string { return e.message }

// reply is an answer that reports success.
type reply struct {
	contentType string
	body        []byte
}

func (r *reply) decode(into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return &answerError{"The provider took the request, but its answer cannot be read."}
	}
	return nil
}

func (c *client) get(ctx context.Context, path string, query url.Values) (*reply, error) {
	return c.do(ctx, request{method: http.MethodGet, path: path, query: query})
}

func (c *client) send(ctx context.Context, method, path string, body any) (*reply, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.do(ctx, request{method: method, path: path, body: raw, header: map[string]string{"Content-Type": "application/json; charset=utf-8"}})
}

// do sends a request, and sends it again with a fresh token if the first was refused. The error is an *answerError or a
// *tool.Failure.
func (c *client) do(ctx context.Context, r request) (*reply, error) {
	token := c.grant.access(ctx)
	for again := false; ; again = true {
		status, header, got, err := c.once(ctx, r, token)
		if err != nil {
			return nil, err
		}
		if status == http.StatusUnauthorized && !again {
			if fresh, ok := c.grant.after401(ctx, token); ok {
				token = fresh
				continue
			}
		}
		if status < 300 {
			return got, nil
		}
		return nil, c.refused(r, status, header, got.body)
	}
}

// once sends a request once.
func (c *client) once(ctx context.Context, r request, token string) (int, http.Header, *reply, error) {
	sent := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent = true }})
	address := c.provider.api + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	out, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil, nil, &tool.Failure{Outcome: tool.Invalid, Message: "an argument cannot be part of an address"}
	}
	for _, h := range []map[string]string{c.provider.header, r.header} {
		for name, value := range h {
			out.Header.Set(name, value)
		}
	}
	out.Header.Set("User-Agent", userAgent)
	out.Header.Set("Authorization", "Bearer "+token)
	response, err := c.source.http.Do(out)
	if err != nil {
		return 0, nil, nil, c.lost(ctx, sent)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case err != nil:
		return 0, nil, nil, c.lost(ctx, true)
	case len(body) > maxReply:
		return 0, nil, nil, &answerError{fmt.Sprintf("The answer of %s has more than %d MiB and was not read.", c.provider.title, maxReply>>20)}
	}
	return response.StatusCode, response.Header, &reply{response.Header.Get("Content-Type"), body}, nil
}

// lost says what is known of a request that was not answered.
func (c *client) lost(ctx context.Context, sent bool) error {
	f := &tool.Failure{Outcome: tool.Unknown, Message: "the connection to " + c.provider.title + " was lost before the answer; the call may have run"}
	switch {
	case !sent:
		return &tool.Failure{Outcome: tool.NotDelivered, Message: c.provider.title + " cannot be reached"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Reason, f.Message = string(errs.ToolTimeout), c.provider.title+" did not answer in time; the call may have run"
	case ctx.Err() != nil:
		f.Reason, f.Message = string(errs.Cancelled), "the call was given up; it may have run"
	}
	return f
}

// refused returns the error that a status means.
func (c *client) refused(r request, status int, header http.Header, body []byte) error {
	who := c.provider.title
	switch {
	case status == http.StatusUnauthorized:
		return &answerError{fmt.Sprintf("The authorization at %s is over or was taken back (HTTP status 401). The user has to connect %s again; do not try again before that.", who, who)}
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && header.Get("X-Ratelimit-Remaining") == "0":
		wait := ""
		if after := header.Get("Retry-After"); after != "" && len(after) < 40 {
			wait = " Try again in " + after + " s."
		}
		return &answerError{fmt.Sprintf("%s refuses more requests for now (HTTP status %d, rate limit).%s", who, status, wait)}
	case status >= 500 && r.method != http.MethodGet:
		return &tool.Failure{Outcome: tool.Unknown, Message: fmt.Sprintf("%s answered with HTTP status %d; the call may have run", who, status)}
	}
	return &answerError{strings.TrimSpace(fmt.Sprintf("%s answered with HTTP status %d. %s", who, status, explanation(body)))}
}

// explanation finds what a provider says of an error: {message}, {error:{message}}, {error_description} or {error}.
func explanation(body []byte) string {
	var e struct {
		Message     string          `json:"message"`
		Description string          `json:"error_description"`
		Error       json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(body, &e)
	var inner struct {
		Message string `json:"message"`
	}
	var word string
	_ = json.Unmarshal(e.Error, &inner)
	_ = json.Unmarshal(e.Error, &word)
	for _, text := range []string{e.Message, inner.Message, e.Description, word} {
		if text != "" {
			return text[:min(len(text), 1024)]
		}
	}
	return ""
}
