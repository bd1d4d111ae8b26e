package mcpstdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/sse"
)

// end is how an attempt ended.
type end int

const (
	over  end = iota // answered, refused, or given up
	never            // the gateway has not seen it, or has refused it for now
	lost             // the gateway may have seen it
	gone             // the session is not known
)

// attempt is the end of one, and why.
type attempt struct {
	end    end
	why    string
	reason string
}

// exchange sends a message until it is answered, or until trying again is of no use.
func (p *Proxy) exchange(ctx context.Context, m *message) {
	began, pause := time.Now(), 50*time.Millisecond
	renewed := false
	for {
		a := p.try(ctx, m)
		switch {
		case a.end == over || ctx.Err() != nil:
			return
		case a.end == gone && !renewed && p.begin(ctx):
			renewed = true
			continue
		case a.end == gone:
			p.fail(m, "The session has ended, and a new one could not be begun: "+a.why, "SESSION_NOT_FOUND", "not_delivered")
			return
		case a.end == lost && !m.reads():
			p.fail(m, "The connection to the gateway was lost while it worked on this ("+a.why+"). It may have been done, in part or wholly: "+
				"look at the state of the device before you try again.", "HOLDER_LOST", "unknown")
			return
		case time.Since(began) > patience && m.method != listen:
			p.fail(m, "The gateway cannot be reached: "+a.why+". Nothing was done; try again later.", a.reason, "not_delivered")
			return
		}
		p.Logger.Debug("trying again", "method", m.method, "why", a.why)
		if !sleep.For(ctx, pause) {
			return
		}
		pause = min(2*pause, 2*time.Second)
	}
}

func (p *Proxy) fail(m *message, text, reason, outcome string) {
	p.Logger.Warn(text, "method", m.method)
	if m.id != nil {
		p.say(failure(m, text, reason, outcome))
	}
}

// request makes the HTTP request of a message, or of the stream of a session where there is none.
func (p *Proxy) request(ctx context.Context, method string, m *message) (*http.Request, error) {
	var body io.Reader
	if m != nil {
		body = bytes.NewReader(m.raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, p.URL, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	if m != nil {
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.GetBody = nil // net/http would send it again by itself
		m.headers(r.Header)
	}
	if s := p.current(); m == nil || m.version == "" && m.method != initialize {
		if s.id != "" {
			r.Header.Set(headerSession, s.id)
		}
		if s.version != "" {
			r.Header.Set(headerVersion, s.version)
		}
	}
	if p.User != "" {
		r.Header.Set("X-User-Id", p.User)
	}
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return r, nil
}

// try sends a message once, and passes on what comes back.
func (p *Proxy) try(ctx context.Context, m *message) attempt {
	r, err := p.request(ctx, http.MethodPost, m)
	if err != nil {
		p.fail(m, "The request cannot be made: "+err.Error(), "UNAUTHENTICATED", "not_delivered")
		return attempt{}
	}
	resp, err := p.http.Do(r)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			return attempt{end: never, why: err.Error(), reason: "BUS_UNAVAILABLE"}
		}
		return attempt{end: lost, why: err.Error()}
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/event-stream" && resp.StatusCode == http.StatusOK {
		return p.stream(m, resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	switch {
	case err != nil:
		return attempt{end: lost, why: err.Error()}
	case resp.StatusCode == http.StatusNotFound && m.version == "" && m.method != initialize && p.current().id != "":
		return attempt{end: gone, why: resp.Status}
	case resp.StatusCode == http.StatusAccepted, resp.StatusCode == http.StatusOK && len(raw) == 0:
		return attempt{}
	case kind == "application/json" && m.id != nil && (answers(raw, m.id) || answers(raw, nil)):
		p.begins(m, resp, raw)
		p.say(withID(raw, m.id))
		return attempt{}
	case kind == "application/json" && m.id == nil && resp.StatusCode == http.StatusOK: // of a batch
		p.say(raw)
		return attempt{}
	}
	return p.refused(m, resp, raw)
}

// withID puts the id of its request into an error that came without one.
func withID(raw, id []byte) []byte {
	if answers(raw, id) {
		return raw
	}
	e := jsonrpc.RawMembers(raw, "error")["error"]
	return append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"error":`...), e...), '}')
}

// refused makes an answer of what is no JSON-RPC.
func (p *Proxy) refused(m *message, resp *http.Response, raw []byte) attempt {
	var problem struct{ Detail, Error, Reason, Outcome string }
	_ = json.Unmarshal(raw, &problem) // what is no problem has only a status
	said := strings.TrimSpace(resp.Status + " " + problem.Detail)
	if resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusBadGateway && m.reads() {
		return attempt{end: never, why: said, reason: problem.Reason}
	}
	outcome := "not_delivered"
	if problem.Outcome != "" {
		outcome = problem.Outcome
	} else if resp.StatusCode >= http.StatusInternalServerError {
		outcome = "unknown"
	}
	hint := ""
	if resp.StatusCode == http.StatusUnauthorized {
		hint = `. "hecaton token --scope tools:read,tools:call" makes a token for --token-file`
	}
	p.fail(m, "The gateway refused this: "+said+hint, problem.Reason, outcome)
	return attempt{}
}

// begins takes the session out of the answer to initialize.
func (p *Proxy) begins(m *message, resp *http.Response, raw []byte) {
	if m.method != initialize || m.version != "" {
		return
	}
	result := jsonrpc.RawMembers(raw, "result")["result"]
	if !jsonrpc.IsObject(result) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = session{id: resp.Header.Get(headerSession), version: jsonrpc.StringMember(result, "protocolVersion")}
}

// stream passes on the messages of a stream, which ends with the answer.
func (p *Proxy) stream(m *message, resp *http.Response) attempt {
	events := sse.NewReader(resp.Body, maxMessage)
	for {
		e, err := events.Next()
		if err != nil {
			if m.id == nil {
				return attempt{}
			}
			return attempt{end: lost, why: "the stream ended before the answer"}
		}
		if len(e.Data) == 0 {
			continue
		}
		last := m.id != nil && answers(e.Data, m.id)
		if last {
			p.begins(m, resp, e.Data)
		}
		p.say(e.Data)
		if last {
			return attempt{}
		}
	}
}
