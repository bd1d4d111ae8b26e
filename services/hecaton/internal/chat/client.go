package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Client speaks to the gateways of one cluster for one user. Where one cannot be reached, the next one is asked.
type Client struct {
	// Servers are base URLs, at least one.
	Servers []string
	User    string
	Token   config.Secret // "" in trusted mode

	at atomic.Int64 // the server that answered last
}

// Refused is a request that the API did not do.
type Refused struct {
	Status int
	// Reason is the name of the error for programs, such as RUN_ACTIVE; "" if there is none.
	Reason string
	// Message is for people.
	Message string
}

func (e *Refused) Error() string { return e.Message }

// Unreachable says that no gateway answers.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string { return "no gateway can be reached: " + e.Err.Error() }

// Unwrap returns what the last one failed with.
func (e *Unreachable) Unwrap() error { return e.Err }

// passing reports whether an error may be over soon.
func passing(err error) bool {
	var refused *Refused
	if !errors.As(err, &refused) {
		return true
	}
	switch refused.Status {
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return true
	}
	return false
}

// request is one request; its body is sent again to every server that is tried.
type request struct {
	method, path string
	body         any // nil for none
	header       map[string]string
}

// send asks one server after the other until one answers, and returns the body of its answer.
func (c *Client) send(ctx context.Context, r request) (io.ReadCloser, error) {
	var raw []byte
	if r.body != nil {
		var err error
		if raw, err = json.Marshal(r.body); err != nil {
			return nil, err
		}
	}
	var failed error
	for range c.Servers {
		at := int(c.at.Load()) % len(c.Servers)
		body, err := c.ask(ctx, c.Servers[at], r, raw)
		if err == nil || ctx.Err() != nil || !passing(err) {
			return body, err
		}
		failed = err
		c.at.CompareAndSwap(int64(at), int64(at+1)%int64(len(c.Servers)))
	}
	return nil, failed
}

// ask asks one server. Every answer but 200 is an error.
func (c *Client) ask(ctx context.Context, server string, r request, body []byte) (io.ReadCloser, error) {
	target, err := url.Parse(strings.TrimSuffix(server, "/") + r.path)
	if err != nil {
		return nil, err
	}
	query := target.Query()
	query.Set("user_id", c.User)
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, &Unreachable{err}
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	return nil, readRefusal(resp)
}

func readRefusal(resp *http.Response) *Refused {
	var problem struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Error  string `json:"error"`
		Reason string `json:"reason"`
	}
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what is missing is not said
	message := ""
	if json.Unmarshal(raw, &problem) == nil {
		message = cmp.Or(problem.Detail, problem.Error, problem.Title)
	}
	return &Refused{
		Status: resp.StatusCode, Reason: problem.Reason, Message: fmt.Sprintf("%s (%s)", Safe(cmp.Or(message, "refused")), resp.Status),
	}
}

// answerWithin bounds requests that do not stream.
const answerWithin = 30 * time.Second

// call does a request and reads its answer into out, which may be nil.
func (c *Client) call(ctx context.Context, r request, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	body, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, maxEvent))
	if err != nil {
		return &Unreachable{err}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}

func sessionPath(id string) string { return "/api/agent/sessions/" + url.PathEscape(id) }

// Session looks a session up.
func (c *Client) Session(ctx context.Context, id string) (s Session, err error) {
	return s, c.call(ctx, request{method: http.MethodGet, path: sessionPath(id)}, &s)
}

// Cancel ends a session's run.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.call(ctx, request{method: http.MethodPost, path: sessionPath(id) + "/cancel"}, nil)
}

const settingsPath = "/api/agent/approval-settings"

// allow adds an entry to the user's allow-list and returns the approval mode, which decides whether the list is used.
func (c *Client) allow(ctx context.Context, entry allowed) (mode string, err error) {
	s, err := c.Settings(ctx)
	if err != nil {
		return "", err
	}
	s.Allowed = append(s.Allowed, entry)
	return s.Mode, c.Settle(ctx, s)
}

// Settings are the user's approval settings.
func (c *Client) Settings(ctx context.Context) (s Settings, err error) {
	return s, c.call(ctx, request{method: http.MethodGet, path: settingsPath}, &s)
}

// Settle replaces the user's approval settings.
func (c *Client) Settle(ctx context.Context, s Settings) error {
	return c.call(ctx, request{method: http.MethodPut, path: settingsPath, body: s}, nil)
}
