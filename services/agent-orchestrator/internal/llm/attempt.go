package llm

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

const (
	maxErrorBody = 64 << 10
	maxWholeBody = 32 << 20 // an answer of maxAnswer, each byte of it escaped, in one document
	// lingering is how long an endpoint may take to say [DONE], or its usage, after it has said that the answer is whole.
	lingering = 2 * time.Second
	drainTime = time.Second
	drainSize = 64 << 10
)

// attempt sends one request and reads its answer.
func (c *Client) attempt(ctx context.Context, e Endpoint, w wire, on func(Delta) error) (Answer, error) {
	watched, watch := newWatch(ctx, c.stall)
	x := &exchange{client: c.httpFor(e), ctx: ctx, watch: watch, tools: w.tools}
	config := openai.DefaultConfig(strings.TrimSpace(e.APIKey))
	config.BaseURL = base(e.BaseURL)
	config.HTTPClient = x
	_, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(watched, w.ChatCompletionRequest)
	if err != nil {
		watch.end()
		return Answer{}, x.explain(err)
	}
	m := &merger{on: on}
	if isJSON(x.response) {
		err = m.whole(x.body)
	} else {
		err = m.events(x.body)
	}
	if err == nil {
		c.drain(x.body)
		return m.answer(), nil
	}
	_ = x.body.Close()
	watch.end()
	return m.answer(), started(x.explain(err), m.started)
}

// drain reads the few bytes that are left, so that the connection can serve the next request: net/http closes one that was
// not read to its end. Nobody waits for it.
func (c *Client) drain(b *body) {
	c.drains.Go(func() {
		b.before = nil
		b.watch.limit(drainTime)
		_, _ = io.Copy(io.Discard, io.LimitReader(b, drainSize))
		_ = b.Close()
		b.watch.end()
	})
}

func started(err error, did bool) error {
	var failed *Error
	if errors.As(err, &failed) {
		failed.Started = did
	}
	return err
}

// exchange is one request over HTTP. It is the library's HTTP client, and keeps the response from it.
type exchange struct {
	client *http.Client
	ctx    context.Context // the caller's, without the watch
	watch  *watch
	tools  []byte // of the request

	response *http.Response
	body     *body
}

// Do returns a response only where an answer can be in it.
func (x *exchange) Do(r *http.Request) (*http.Response, error) {
	if err := addTools(r, x.tools); err != nil {
		return nil, err
	}
	x.watch.start()
	resp, err := x.client.Do(r)
	x.watch.pause()
	if err != nil {
		return nil, err
	}
	x.response, x.body = resp, &body{from: resp.Body, watch: x.watch}
	if resp.StatusCode == http.StatusOK && mediaType(resp) != "text/html" {
		return resp, nil
	}
	// If the body breaks off, the part that came has to be enough.
	text, _ := io.ReadAll(io.LimitReader(x.body, maxErrorBody))
	_ = resp.Body.Close()
	return nil, refused(resp, text)
}

// explain turns an error of this exchange into one for the caller.
func (x *exchange) explain(err error) error {
	var failed *Error
	var callers callersError
	switch {
	case errors.As(err, &callers):
		return callers.error
	case x.ctx.Err() != nil:
		return context.Cause(x.ctx)
	case errors.As(err, &failed):
		copied := *failed // some are shared
		return &copied
	case x.watch.stalled():
		return &Error{Code: ModelUnavailable, Message: "the model was silent for " + x.watch.silence.String(), again: true}
	}
	return unreachable(err, x.response != nil)
}

func mediaType(r *http.Response) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func isJSON(r *http.Response) bool { return mediaType(r) == "application/json" }

// body is a response's body under watch.
type body struct {
	from  io.ReadCloser
	watch *watch
	// before, unless nil, is called before each read: what came earlier has been used.
	before func() error
}

func (b *body) Read(p []byte) (int, error) {
	if b.before != nil {
		if err := b.before(); err != nil {
			return 0, err
		}
	}
	b.watch.start()
	defer b.watch.pause()
	return b.from.Read(p)
}

func (b *body) Close() error { return b.from.Close() }
