package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// REST calls through the REST API. Each caller keeps its connection open.
type REST struct {
	servers []string
	token   func(user string) (string, error)
	client  *http.Client
}

// connectWithin is how long a server may take to accept a connection.
const connectWithin = 5 * time.Second

// NewREST returns a way to these servers, in turn, for so many callers.
func NewREST(servers []string, token func(user string) (string, error), callers int) *REST {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, callers
	t.DialContext = (&net.Dialer{Timeout: connectWithin}).DialContext
	t.ForceAttemptHTTP2 = false // a connection of its own for each caller
	return &REST{servers: servers, token: token, client: &http.Client{Transport: t}}
}

// Close ends the connections.
func (r *REST) Close() { r.client.CloseIdleConnections() }

// Attempt makes one attempt.
func (r *REST) Attempt(ctx context.Context, try int64, what Request) (string, ledger.End) {
	body, err := json.Marshal(map[string]any{
		"tool_name": what.Tool, "tool_args": json.RawMessage(what.Arguments), "node_id": what.Node,
	})
	if err != nil {
		return "", ledger.End{Class: ledger.NotDelivered, Reason: "BAD_REQUEST", Err: err}
	}
	server := strings.TrimSuffix(r.servers[try%int64(len(r.servers))], "/")
	target := server + "/api/node/browser/tool?" + url.Values{"user_id": {what.User}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return "", ledger.End{Class: ledger.NotDelivered, Reason: "BAD_REQUEST", Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	token, err := r.token(what.User)
	if err != nil {
		return "", ledger.End{Class: ledger.NotDelivered, Reason: "BAD_REQUEST", Err: err}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	var connected atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}))
	resp, err := r.client.Do(req)
	if err != nil {
		return "", transportEnd(ctx, err, connected.Load())
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", transportEnd(ctx, err, true)
	}
	return readAnswer(resp.StatusCode, raw)
}

// transportEnd is the end of an attempt without an answer. connected says that there was a connection, on which a part of
// the request may have been sent.
func transportEnd(ctx context.Context, err error, connected bool) ledger.End {
	var dial *net.OpError
	switch {
	case !connected, errors.As(err, &dial) && dial.Op == "dial": // a second connection is made only where the first took nothing
		return ledger.End{Class: ledger.NotDelivered, Reason: ledger.Refused, Err: err}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return ledger.End{Class: ledger.Unknown, Reason: ledger.TimedOut, Err: err}
	}
	return ledger.End{Class: ledger.Unknown, Reason: ledger.Lost, Err: err}
}

// readAnswer reads the API's answer: a result, or a problem that says what a caller may assume. Anything else, such as the
// page of a proxy, leaves the outcome unknown.
func readAnswer(status int, raw []byte) (string, ledger.End) {
	var body struct {
		Result struct {
			Text string `json:"text"`
		} `json:"result"`
		Error   json.RawMessage `json:"error"`
		Reason  string          `json:"reason"`
		Outcome string          `json:"outcome"`
		Detail  string          `json:"detail"`
	}
	bad := json.Unmarshal(raw, &body)
	if status == http.StatusOK && bad == nil {
		if body.Error != nil {
			return string(body.Error), ledger.End{Class: ledger.Answered} // whose text is not that of the call
		}
		return body.Result.Text, ledger.End{Class: ledger.Answered}
	}
	end := ledger.End{Class: ledger.Unknown, Reason: body.Reason, Err: fmt.Errorf("HTTP %d: %.200s", status, raw)}
	if reason := errs.Reason(body.Reason); reason.OfCall() {
		end.Class = class(reason)
		return "", end
	}
	end.Reason = fmt.Sprintf("HTTP_%d", status)
	if bad == nil && status >= 400 && status < 500 || body.Outcome == string(errs.NotDelivered) {
		end.Class = ledger.NotDelivered // the API refuses the request
	}
	return "", end
}

func class(r errs.Reason) ledger.Class {
	if r.Class() == errs.NotDelivered {
		return ledger.NotDelivered
	}
	return ledger.Unknown
}
