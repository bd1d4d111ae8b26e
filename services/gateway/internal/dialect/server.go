package dialect

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/holder"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/pictures"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/metrics"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// Config is what a Server is made of.
type Config struct {
	Env
	Hub     *hub.Hub
	Holder  *holder.Holder
	Metrics *metrics.Metrics
	// Pictures keeps the last one of each node; nil for none.
	Pictures *pictures.Keeper
	// Conn is the pod's: kinds of clients may have a smaller limit.
	Conn conn.Config
	// Draining reports whether new sockets are refused, because the pod drains.
	Draining func() bool
	// Problem answers a request that is refused because of err.
	Problem func(w http.ResponseWriter, err error)
}

// Server serves the sockets of all dialects.
type Server struct {
	Config
	protocols []Protocol
	routes    map[string]http.HandlerFunc // by pattern

	ctx    context.Context // ends what connections wait for
	cancel context.CancelFunc
	work   sync.WaitGroup // one for each connection

	mu     sync.Mutex
	closed bool
	live   map[*conn.Conn]struct{}
}

// New returns a server of some dialects. The error says which of them cannot be served, and why.
func New(cfg Config, dialects ...Dialect) (*Server, error) {
	s := &Server{Config: cfg, routes: make(map[string]http.HandlerFunc), live: make(map[*conn.Conn]struct{})}
	names := make(map[string]bool)
	for _, d := range dialects {
		p := d.New(cfg.Env)
		s.protocols = append(s.protocols, p)
		for _, k := range d.Kinds {
			if k.Identify == nil && k.Greet == nil {
				return nil, fmt.Errorf("dialect %s: nothing says who a client of the kind %q is: set Identify, Greet or both", d.Name, k.Name)
			}
			pattern := "GET " + k.Path
			if names[k.Name] || s.routes[pattern] != nil {
				return nil, fmt.Errorf("dialect %s: another kind of client has the name %q or the path %q", d.Name, k.Name, k.Path)
			}
			names[k.Name] = true
			s.routes[pattern] = (&door{Server: s, protocol: p, kind: k, conn: s.connOf(k)}).serve
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// connOf is what the connections of a kind share.
func (s *Server) connOf(k *Kind) *conn.Config {
	cfg := s.Conn
	if k.MaxFrame > 0 {
		cfg.MaxFrame = min(cfg.MaxFrame, k.MaxFrame)
	}
	problem := "binary"
	if cfg.Binary = k.Binary; k.Binary {
		problem = "unknown"
	}
	cfg.OnDropped = s.Metrics.Frames.WithLabelValues(problem).Inc
	return &cfg
}

// Protocols returns the dialects at work, in the order in which they were declared.
func (s *Server) Protocols() []Protocol { return s.protocols }

// Serves reports whether a path is that of a dialect's socket.
func (s *Server) Serves(path string) bool { return s.routes["GET "+path] != nil }

// Routes adds the endpoints of all dialects.
func (s *Server) Routes(mux *http.ServeMux) {
	for pattern, handler := range s.routes {
		mux.HandleFunc(pattern, handler)
	}
	for _, p := range s.protocols {
		if plain, ok := p.(interface{ Routes(*http.ServeMux) }); ok {
			plain.Routes(mux)
		}
	}
}

// Close ends what connections are left and waits for them.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.live {
		c.Close(conn.GoingAway)
	}
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
}

// run serves a connection on goroutines of its own, so that net/http's, with the stack it grew, can end. begin does what has
// to be done first and returns the handler of frames. ended is called when everything that belongs to the connection is over.
func (s *Server) run(c *conn.Conn, k *Kind, begin func() conn.Handler, ended func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close(conn.GoingAway)
	}
	s.live[c] = struct{}{}
	s.work.Add(1)
	go func() {
		c.Serve(s.ctx, begin(), func(reason conn.Reason) {
			s.Metrics.Closed.WithLabelValues(k.Name, reason.String()).Inc()
			s.mu.Lock()
			delete(s.live, c)
			s.mu.Unlock()
			ended()
			s.work.Done()
		})
	}()
}
