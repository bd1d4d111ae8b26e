package mcpstdio

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/sse"
)

// begin begins the client's session anew, in its own words, without its notice.
func (p *Proxy) begin(ctx context.Context) bool {
	p.mu.Lock()
	m := read(p.begun)
	p.session = session{}
	p.mu.Unlock()
	if m.id == nil {
		return false
	}
	r, err := p.request(ctx, http.MethodPost, m)
	if err != nil {
		return false
	}
	resp, err := p.http.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	raw, err := firstMessage(resp)
	if err != nil || !answers(raw, m.id) {
		return false
	}
	p.begins(m, resp, raw)
	p.try(ctx, read([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)))
	return p.current().id != ""
}

// firstMessage reads an answer, in either form.
func firstMessage(resp *http.Response) ([]byte, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		e, err := sse.NewReader(resp.Body, maxMessage).Next()
		return e.Data, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	if err == nil && !jsonrpc.IsObject(raw) {
		err = errors.New("the answer is no object")
	}
	return raw, err
}

// hear passes on what the server says in the session unasked, through whichever gateway answers, until ctx ends or the server has
// nothing to say.
func (p *Proxy) hear(ctx context.Context) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		began := time.Now()
		if !p.follow(ctx) || ctx.Err() != nil {
			return
		}
		if time.Since(began) > 10*time.Second {
			pause = 100 * time.Millisecond
		}
		if !sleep.For(ctx, pause) {
			return
		}
	}
}

// follow reads one stream to its end; false says that there will be no other.
func (p *Proxy) follow(ctx context.Context) (again bool) {
	if p.current().id == "" {
		return false
	}
	r, err := p.request(ctx, http.MethodGet, nil)
	if err != nil {
		return true
	}
	resp, err := p.http.Do(r)
	if err != nil {
		return true
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusMethodNotAllowed || resp.StatusCode == http.StatusForbidden:
		return false
	case resp.StatusCode != http.StatusOK: // a request of the client's begins a session anew
		return true
	}
	events := sse.NewReader(resp.Body, maxMessage)
	for {
		e, err := events.Next()
		if err != nil {
			return true
		}
		if len(e.Data) > 0 {
			p.say(e.Data)
		}
	}
}
