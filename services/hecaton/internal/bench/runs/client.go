package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// client speaks the agent's REST API. The next request goes to the next server.
type client struct {
	servers []string
	token   func(user string) (string, error)
	http    *http.Client
	next    atomic.Int64
}

const (
	connectWithin = 5 * time.Second
	// answerWithin is how long the beginning of an answer may take.
	answerWithin = 20 * time.Second
)

func newClient(servers []string, token func(user string) (string, error), sessions int) *client {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, sessions
	t.DialContext = (&net.Dialer{Timeout: connectWithin}).DialContext
	t.ResponseHeaderTimeout = answerWithin
	t.ForceAttemptHTTP2 = false
	return &client{servers: servers, token: token, http: &http.Client{Transport: t}}
}

// refused is a request that was answered with something else than 200.
type refused struct {
	status int
	reason string
	text   string
}

func (e *refused) Error() string { return fmt.Sprintf("HTTP %d %s: %s", e.status, e.reason, e.text) }

// passing reports whether an error may be temporary: no server was reached, or it could not serve.
func passing(err error) bool {
	var no *refused
	if !errors.As(err, &no) {
		return true
	}
	return no.status >= 500 || no.status == http.StatusTooManyRequests
}

// taken reports whether a decision that is sent again had been taken the first time.
func taken(err error) bool {
	var no *refused
	if !errors.As(err, &no) {
		return false
	}
	return no.reason == "ALREADY_DECIDED" || no.reason == "RUN_ACTIVE" || no.reason == "NOT_INTERRUPTED"
}

// ask sends one request, and returns the body of an answer of 200.
func (c *client) ask(ctx context.Context, method, path, user string, body any, header map[string]string) (io.ReadCloser, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	server := strings.TrimSuffix(c.servers[int(c.next.Add(1)-1)%len(c.servers)], "/")
	target := server + path + "?" + url.Values{"user_id": {user}}.Encode()
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	token, err := c.token(user)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what is missing is not said
	problem := struct{ Reason, Detail string }{Detail: strings.TrimSpace(string(text[:min(len(text), 300)]))}
	_ = json.Unmarshal(text, &problem) // a proxy's page has neither
	return nil, &refused{resp.StatusCode, problem.Reason, problem.Detail}
}
