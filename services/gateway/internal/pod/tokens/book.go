package tokens

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

const (
	// Fresh is how long an orchestrator's answer is believed.
	Fresh = 2 * time.Second
	// askTimeout bounds one question.
	askTimeout = 2 * time.Second
	// maxPages bounds the tokens that are remembered; others are asked about each time.
	maxPages = 100_000
	// mourned is how long a revoked token is remembered: longer than a question may take that was asked before.
	mourned = time.Minute
)

// Store is where the tokens are kept.
type Store interface {
	LookUpTokens(context.Context, *agentv1.LookUpTokensRequest, ...grpc.CallOption) (*agentv1.LookUpTokensResponse, error)
}

// Options are what a Book is made of.
type Options struct {
	// Store and Bus are required.
	Store Store
	Bus   *bus.Conn
	// Logger hears when the tokens in use cannot be asked about; nil discards.
	Logger *slog.Logger
}

// Book implements [auth.Book]. It is safe for concurrent use.
type Book struct {
	// Static after construction.
	store Store
	log   *slog.Logger
	sub   *nats.Subscription

	asking singleflight.Group // by token id

	mu    sync.Mutex
	pages map[string]*page // by token id

	quit chan struct{}
	work sync.WaitGroup
}

// page is what is known of one token; guarded by the book's mu.
type page struct {
	record   *agentv1.TokenRecord // nil where there is no such token
	asked    time.Time            // when the question was asked that brought it
	revoked  time.Time            // when it was; zero while it was not
	watchers map[*watcher]struct{}
}

// watcher is a connection or request that ends with its token.
type watcher struct{ end func() }

// New returns a Book that hears of revocations until Close.
func New(o Options) (*Book, error) {
	b := &Book{store: o.Store, log: obs.OrDiscard(o.Logger), pages: make(map[string]*page), quit: make(chan struct{})}
	var err error
	if b.sub, err = o.Bus.Subscribe(bus.AllRevoked, b.heard); err != nil {
		return nil, err
	}
	b.work.Go(b.keep)
	return b, nil
}

// Close stops hearing and asking.
func (b *Book) Close() {
	_ = b.sub.Unsubscribe() // fails only where the connection is closed
	close(b.quit)
	b.work.Wait()
}

// LookUp implements [auth.Book].
func (b *Book) LookUp(ctx context.Context, token string) (auth.Identity, error) {
	id := auth.FixedID(token)
	if id == "" {
		return auth.Identity{}, auth.NoToken()
	}
	r, err := b.record(ctx, id)
	if err != nil {
		return auth.Identity{}, err
	}
	expires := r.GetToken().GetExpiresAt().AsTime()
	if r == nil || !auth.SameFixed(token, r.GetHash()) || !time.Now().Before(expires) {
		return auth.Identity{}, auth.NoToken()
	}
	scopes := append([]string(nil), r.GetToken().GetScopes()...)
	for _, node := range r.GetToken().GetNodes() {
		scopes = append(scopes, auth.NodeScope(ids.NodeID(node)))
	}
	who := auth.Identity{User: ids.UserID(r.GetUserId()), Expires: expires, Token: id, Grant: auth.NewGrant(scopes)}
	return who.Revocable(func(end func()) func() { return b.watch(id, end) }), nil
}

// record returns what is known of a token, nil where there is none; it asks where that is not fresh.
func (b *Book) record(ctx context.Context, id string) (*agentv1.TokenRecord, error) {
	if r, known := b.remembered(id); known {
		return r, nil
	}
	ch := b.asking.DoChan(id, func() (any, error) {
		// What is answered is for all who ask; the first may give up without failing the others.
		found, err := b.ask(context.WithoutCancel(ctx), id)
		return found[id], err
	})
	var answer singleflight.Result
	select {
	case answer = <-ch:
		if answer.Err != nil {
			return nil, errs.New(errs.AgentUnavailable, "the token cannot be checked right now: try again: %w", answer.Err)
		}
	case <-ctx.Done():
		return nil, errs.New(errs.AgentUnavailable, "the token was not checked: %w", ctx.Err())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pages[id]; p != nil { // revoked since, perhaps
		return p.record, nil
	}
	return answer.Val.(*agentv1.TokenRecord), nil
}

func (b *Book) remembered(id string) (r *agentv1.TokenRecord, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[id]
	if p == nil || p.revoked.IsZero() && time.Since(p.asked) > Fresh {
		return nil, false
	}
	return p.record, true
}

// ask asks about tokens, and notes the answer.
func (b *Book) ask(ctx context.Context, list ...string) (found map[string]*agentv1.TokenRecord, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	resp, err := b.store.LookUpTokens(ctx, &agentv1.LookUpTokensRequest{Ids: list})
	if err != nil {
		return nil, err
	}
	found = make(map[string]*agentv1.TokenRecord, len(resp.GetTokens()))
	for _, r := range resp.GetTokens() {
		found[r.GetToken().GetId()] = r
	}
	for _, id := range list {
		b.note(id, found[id], asked)
	}
	return found, nil
}

// note keeps an answer. One that was on its way when the token was revoked does not count.
func (b *Book) note(id string, r *agentv1.TokenRecord, asked time.Time) {
	b.mu.Lock()
	p := b.pages[id]
	switch {
	case p == nil && len(b.pages) >= maxPages:
		b.evict()
		fallthrough
	case p == nil:
		p = &page{}
		b.pages[id] = p
	case !p.revoked.IsZero() || p.asked.After(asked):
		b.mu.Unlock()
		return
	}
	p.record, p.asked = r, asked
	var ended map[*watcher]struct{}
	if r == nil {
		ended, p.watchers = p.watchers, nil
	}
	b.mu.Unlock()
	end(ended)
}

// evict forgets one token that nobody watches; called with mu held.
func (b *Book) evict() {
	for id, p := range b.pages {
		if len(p.watchers) == 0 {
			delete(b.pages, id)
			return
		}
	}
}

// watch calls end once the token is known to be revoked.
func (b *Book) watch(id string, f func()) (stop func()) {
	w := &watcher{f}
	b.mu.Lock()
	p := b.pages[id]
	if p == nil { // evicted since it was looked up: ask soon
		p = &page{record: &agentv1.TokenRecord{}, asked: time.Now().Add(-Fresh)}
		b.pages[id] = p
	}
	gone := p.record == nil
	if !gone {
		if p.watchers == nil {
			p.watchers = make(map[*watcher]struct{})
		}
		p.watchers[w] = struct{}{}
	}
	b.mu.Unlock()
	if gone {
		f()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(p.watchers, w)
	}
}

// heard takes the word of a revocation.
func (b *Book) heard(m *nats.Msg) {
	id, err := bus.ParseRevoked(m.Subject)
	if err != nil {
		b.log.Warn("a message about a revoked token cannot be read", "error", err)
		return
	}
	b.mu.Lock()
	p := b.pages[id]
	if p == nil { // a question about it may be on its way
		p = &page{}
		b.pages[id] = p
	}
	ended := p.watchers
	p.record, p.watchers, p.revoked = nil, nil, time.Now()
	b.mu.Unlock()
	end(ended)
}

func end(watchers map[*watcher]struct{}) {
	for w := range watchers {
		w.end()
	}
}
