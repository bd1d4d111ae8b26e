package mcpstdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

const (
	// maxMessage bounds a message in either direction, in bytes.
	maxMessage = 64 << 20
	// maxOpen bounds the requests that are open at a time; further lines wait.
	maxOpen = 256
	// patience is how long a gateway that cannot be reached is tried again.
	patience = 30 * time.Second
	// lastWords is how long open requests may take once the client sends no more.
	lastWords = 2 * time.Second
)

// Options are what a Proxy is made of.
type Options struct {
	// URL is that of the MCP endpoint, and User who asks in trusted mode.
	URL, User string
	// Token returns the token of a request, as it is then; empty for none.
	Token func() (config.Secret, error)
	In    io.Reader
	Out   io.Writer
	// Logger hears what is no message; it must not write to Out.
	Logger *slog.Logger
}

// Proxy passes messages of one client.
type Proxy struct {
	Options
	http http.Client

	out sync.Mutex // held while a line is written

	mu      sync.Mutex
	open    map[string]context.CancelFunc // requests, by id
	session session
	begun   []byte // the client's initialize; nil before it

	places chan struct{}
	work   sync.WaitGroup
	calls  sync.WaitGroup // the requests that have an answer soon
}

// session is that of the revisions with initialize.
type session struct{ id, version string }

// Run passes messages until the client closes In, or ctx ends.
func Run(ctx context.Context, o Options) error {
	p := &Proxy{Options: o, open: make(map[string]context.CancelFunc), places: make(chan struct{}, maxOpen)}
	p.http = http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 16, DisableCompression: true},
		// The token is for this gateway, and for no other server that it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx, cancel := context.WithCancel(ctx)
	lines := make(chan []byte)
	problem := make(chan error, 1)
	go func() { // ends with In, or with the process: a read of a terminal cannot be interrupted
		defer close(lines)
		problem <- readLines(ctx, o.In, lines)
	}()
	err := p.pass(ctx, lines, problem)
	late := time.AfterFunc(lastWords, cancel)
	p.calls.Wait()
	late.Stop()
	cancel()
	p.work.Wait()
	p.http.CloseIdleConnections()
	return err
}

func (p *Proxy) pass(ctx context.Context, lines <-chan []byte, problem <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				return <-problem
			}
			p.take(ctx, read(line))
		}
	}
}

// readLines reads messages, each a line.
func readLines(ctx context.Context, from io.Reader, to chan<- []byte) error {
	in := bufio.NewScanner(from)
	in.Buffer(make([]byte, 0, 64<<10), maxMessage)
	for in.Scan() {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		select {
		case to <- bytes.Clone(line):
		case <-ctx.Done():
			return nil
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a message has more than %d bytes", maxMessage)
	}
	return in.Err()
}

// take passes one message on. Those whose order matters are passed before the next is read.
func (p *Proxy) take(ctx context.Context, m *message) {
	if id := m.cancels(); id != nil && p.giveUp(id) {
		return // the end of its request is the word
	}
	if m.method == initialize && m.version == "" {
		p.mu.Lock()
		p.begun, p.session = m.raw, session{}
		p.mu.Unlock()
	}
	if m.id == nil || m.method == initialize {
		p.exchange(ctx, m)
		if m.method == "notifications/initialized" {
			p.work.Go(func() { p.hear(ctx) })
		}
		return
	}
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	key := string(m.id)
	if m.version != "" { // in a session the word travels as a message of its own
		p.mu.Lock()
		p.open[key] = cancel
		p.mu.Unlock()
	}
	soon := func() {}
	if m.method != listen {
		p.calls.Add(1)
		soon = p.calls.Done
	}
	p.work.Go(func() {
		defer soon()
		defer func() { <-p.places }()
		p.exchange(ctx, m)
		p.mu.Lock()
		delete(p.open, key)
		p.mu.Unlock()
		cancel()
	})
}

// giveUp ends a stateless request, whose answer nobody waits for any more.
func (p *Proxy) giveUp(id []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.open[string(id)]
	if cancel == nil {
		return false
	}
	cancel()
	return true
}

func (p *Proxy) current() session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// say writes one message of the server's as a line.
func (p *Proxy) say(raw []byte) {
	if bytes.ContainsAny(raw, "\r\n") {
		var line bytes.Buffer
		if json.Compact(&line, raw) != nil {
			p.Logger.Warn("the gateway sent what is no JSON")
			return
		}
		raw = line.Bytes()
	}
	p.out.Lock()
	defer p.out.Unlock()
	_, _ = p.Out.Write(append(raw[:len(raw):len(raw)], '\n')) // a client that is gone closes In, too
}
