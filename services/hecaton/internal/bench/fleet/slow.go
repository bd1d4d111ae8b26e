package fleet

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// Slow are web clients that keep sending requests and do not read the answers. A server has to disconnect them.
type Slow struct {
	fleet *Fleet
	work  sync.WaitGroup
	quit  chan struct{}
	end   context.CancelFunc

	mu    sync.Mutex
	stats SlowStats
}

// SlowStats are what became of them.
type SlowStats struct {
	// Cut is how many connections the server ended, after Took; Kept is how many clients were still served when they read
	// at the end.
	Cut, Kept int
	Took      load.Histogram
}

const (
	// asks is how often a client asks, for an answer of workflowsSize.
	asks = 50 * time.Millisecond
	// askWithin is how long a request may take to be written: a proxy whose buffers are full accepts no more.
	askWithin = 15 * time.Second
	// readsWithin is how long a client reads at the end before the connection counts as one that is served.
	readsWithin = 20 * time.Second
)

// Slow starts so many of them; they come back when they are cut.
func (f *Fleet) Slow(ctx context.Context, clients int) *Slow {
	s := &Slow{fleet: f, quit: make(chan struct{})}
	ctx, s.end = context.WithCancel(ctx)
	for i := range clients {
		s.work.Go(func() {
			for {
				s.live(ctx, i)
				select {
				case <-s.quit:
					return
				case <-ctx.Done():
					return
				case <-time.After(time.Second):
				}
			}
		})
	}
	return s
}

// Stop ends the clients and returns what became of them. When ctx ends, it does not check whether the remaining ones are
// still served.
func (s *Slow) Stop(ctx context.Context) SlowStats {
	close(s.quit)
	stop := context.AfterFunc(ctx, s.end)
	s.work.Wait()
	stop()
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

var getWorkflows = []byte(`{"type":"get_workflows"}`)

// live is one connection: the client sends requests until a write fails or the bench ends, then checks whether it was
// disconnected.
func (s *Slow) live(ctx context.Context, i int) {
	f := s.fleet
	server := f.o.Servers[i%len(f.o.Servers)]
	user := f.o.Plan.User(f.o.Plan.Slow(i))
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	ws, err := f.dial(dialing, server, "/ws/web", user, url.Values{"user_id": {user}})
	cancel()
	if err != nil {
		return // the nodes count what goes wrong with connecting
	}
	defer func() { _ = ws.CloseNow() }()
	began := time.Now()
	tick := time.NewTicker(asks)
	defer tick.Stop()
	for err == nil {
		select {
		case <-tick.C:
			err = write(ctx, ws)
		case <-s.quit:
			s.look(ctx, ws, began)
			return
		case <-ctx.Done():
			return
		}
	}
	if ctx.Err() == nil {
		s.cut(time.Since(began))
	}
}

func write(ctx context.Context, ws *websocket.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return ws.Write(ctx, websocket.MessageText, getWorkflows)
}

// look reads what has arrived, to see whether the server has ended the connection; a connection that was too short to be
// cut does not count.
func (s *Slow) look(ctx context.Context, ws *websocket.Conn, began time.Time) {
	took := time.Since(began)
	reading, cancel := context.WithTimeout(ctx, readsWithin)
	defer cancel()
	ws.SetReadLimit(2 * workflowsSize)
	for {
		_, _, err := ws.Read(reading)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil: // nobody waits
		case reading.Err() != nil:
			s.kept(took)
		default:
			s.cut(took)
		}
		return
	}
}

func (s *Slow) cut(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Cut++
	s.stats.Took.Add(took)
}

// enough is when a client that does not read should have been cut: its queue is full, or its writes have timed out.
const enough = 45 * time.Second

func (s *Slow) kept(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after > enough {
		s.stats.Kept++
	}
}
