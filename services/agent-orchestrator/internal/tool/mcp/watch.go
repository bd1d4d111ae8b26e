package mcp

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

const (
	// gap is the least time between two words to one who watches, however often a server says that it changed.
	gap = 250 * time.Millisecond
	// leastPause and longestPause are how long a server is left alone whose connection broke.
	leastPause, longestPause = time.Second, time.Minute
)

// Change is what may be another now.
type Change struct{ Tools, Prompts bool }

// watcher is somebody who watches a user's saved servers.
type watcher struct {
	// static after construction
	user   ids.UserID
	news   chan struct{} // has something in it while what has
	reload chan struct{} // has something in it when other configurations are saved

	mu   sync.Mutex
	what Change // guarded by mu
}

func (w *watcher) note(c Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what.Tools, w.what.Prompts = w.what.Tools || c.Tools, w.what.Prompts || c.Prompts
	poke(w.news)
}

func (w *watcher) take() Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.what
	w.what = Change{}
	return c
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Changed says that a user's saved configuration was changed or removed, or is new: connections that were made by it end once the calls
// on them are over.
func (s *Source) Changed(user ids.UserID, id string) {
	s.pool.retire(user, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		if w.user == user {
			w.note(Change{Tools: true, Prompts: true})
			poke(w.reload)
		}
	}
}

// Missed says that changes of configurations may have gone unheard.
func (s *Source) Missed() {
	s.pool.retire("", "")
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		w.note(Change{Tools: true, Prompts: true})
		poke(w.reload)
	}
}

// Watch tells of changes of what a user's saved servers have, and of which there are, until ctx ends or tell fails. It begins with a word
// that nothing has changed: from then on changes of the configurations are heard. While it lasts, a
// connection to each server is kept on which that can speak unasked.
func (s *Source) Watch(ctx context.Context, user ids.UserID, tell func(Change) error) error {
	w := &watcher{user: user, news: make(chan struct{}, 1), reload: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watchers[w] = true
	s.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer func() {
		stop()
		listening.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}()
	if err := tell(Change{}); err != nil {
		return err
	}
	heard := map[poolKey]context.CancelFunc{}
	poke(w.reload)
	news := w.news
	var quiet <-chan time.Time
	for {
		select {
		case <-w.reload:
			s.listenTo(ctx, &listening, w, heard)
		case <-news:
			if err := tell(w.take()); err != nil {
				return err
			}
			news, quiet = nil, time.After(gap)
		case <-quiet:
			news, quiet = w.news, nil
		case <-s.draining:
			return errs.New(errs.AgentUnavailable, "this pod is shutting down; ask again")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listenTo begins to listen to the saved servers that are new, and ends it for those that are gone.
func (s *Source) listenTo(ctx context.Context, listening *sync.WaitGroup, w *watcher, heard map[poolKey]context.CancelFunc) {
	var saved []Server
	if s.opts.Saved != nil {
		var err error
		if saved, err = s.opts.Saved.Servers(ctx, w.user); err != nil {
			s.opts.Logger.WarnContext(ctx, "changes of a user's MCP servers are not heard", "error", err)
			return
		}
	}
	there := map[poolKey]bool{}
	for _, config := range saved {
		key := keyOf(w.user, config)
		there[key] = true
		if heard[key] == nil {
			within, stop := context.WithCancel(ctx)
			heard[key] = stop
			listening.Go(func() { s.listen(within, w, config) })
		}
	}
	for key, stop := range heard {
		if !there[key] {
			stop()
			delete(heard, key)
		}
	}
}

// listen keeps a connection open on which a server can say that it changed.
func (s *Source) listen(ctx context.Context, w *watcher, config Server) {
	srv := s.pool.take(w.user, config)
	defer srv.giveBack()
	defer srv.hearing(w)()
	pause := leastPause
	for again := false; ctx.Err() == nil && !srv.isRetired(); again = true {
		begun := time.Now()
		if sess, end, err := srv.ear(ctx); err == nil {
			if again { // what it said meanwhile was not heard
				srv.changed(Change{Tools: true, Prompts: true})
			}
			awaitEnd(ctx, sess)
			end()
		}
		if time.Since(begun) > longestPause {
			pause = leastPause
		}
		if !sleep.For(ctx, pause/2+rand.N(pause)) {
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// awaitEnd returns when a server can say nothing any more that anybody would hear.
func awaitEnd(ctx context.Context, sess *session) {
	if !speaks(sess.InitializeResult().Capabilities) {
		<-ctx.Done()
		return
	}
	select {
	case <-ctx.Done():
	case <-sess.done:
	case <-sess.lost:
	}
}

// speaks reports whether a server says that its lists change.
func speaks(c *sdk.ServerCapabilities) bool {
	return c != nil && (c.Tools != nil && c.Tools.ListChanged || c.Prompts != nil && c.Prompts.ListChanged)
}

// ear returns a connection on which the server can speak unasked: the one for calls, where that is of the kind, else one of its own.
func (s *server) ear(ctx context.Context) (sess *session, end func(), err error) {
	if transportType(s.config) != StreamableHTTP {
		sess, _, err = s.acquire(ctx)
		return sess, func() { s.release(sess) }, err
	}
	sess, err = s.connect(ctx, true)
	return sess, func() { sess.end() }, err
}

// hearing makes a watcher hear of the server's changes.
func (s *server) hearing(w *watcher) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ears == nil {
		s.ears = map[*watcher]bool{}
	}
	s.ears[w] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.ears, w)
	}
}

// changed forgets what the server has listed, and tells those who watch it.
func (s *server) changed(c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	if c.Tools {
		s.memory.tools.until = time.Time{}
	}
	if c.Prompts {
		s.memory.prompts.until = time.Time{}
	}
	for w := range s.ears {
		w.note(c)
	}
}
