package zeus

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/holder"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/workflow"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/metrics"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Config is what the dialect works with.
type Config struct {
	Auth      *auth.Authenticator
	Conn      *conn.Config
	Holder    *holder.Holder
	Router    *router.Router
	Fanout    *fanout.Fanout
	Workflows *workflow.Runner
	Metrics   *metrics.Metrics
	Limits    *limits.Limiter // nil for none
	// Refuse reports whether new sockets are refused, because the pod drains.
	Refuse func() bool
	Logger *slog.Logger
}

// Zeus serves the dialect's sockets.
type Zeus struct {
	Config
	askers askers

	ctx    context.Context // ends what connections wait for
	cancel context.CancelFunc
	work   sync.WaitGroup // one for each connection

	mu     sync.Mutex
	closed bool
	live   map[*conn.Conn]struct{}
}

// New returns the dialect.
func New(cfg Config) *Zeus {
	z := &Zeus{Config: cfg, live: make(map[*conn.Conn]struct{})}
	z.ctx, z.cancel = context.WithCancel(context.Background())
	return z
}

// Routes adds the dialect's endpoints.
func (z *Zeus) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /ws/extension", z.node(extension))
	mux.HandleFunc("GET /ws/desktop", z.node(desktop))
	mux.HandleFunc("GET /ws/web", z.web)
}

// Close ends what connections are left and waits for them.
func (z *Zeus) Close() {
	z.mu.Lock()
	z.closed = true
	for c := range z.live {
		c.Close(conn.GoingAway)
	}
	z.mu.Unlock()
	z.cancel()
	z.work.Wait()
}

// serve runs a connection on goroutines of its own, so that net/http's, with the stack it grew, can end. begin does what
// is to do first and returns the handler of frames. s ends with the connection.
func (z *Zeus) serve(c *conn.Conn, client string, s seat, begin func() conn.Handler) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		c.Close(conn.GoingAway)
	}
	z.live[c] = struct{}{}
	z.work.Add(1)
	go func() {
		c.Serve(z.ctx, begin(), func(reason conn.Reason) {
			z.Metrics.Closed.WithLabelValues(client, reason.String()).Inc()
			z.mu.Lock()
			delete(z.live, c)
			z.mu.Unlock()
			s.leave()
			z.work.Done()
		})
	}()
}

// kind is one of the two endpoints for nodes.
type kind struct {
	name   string
	typ    nodev1.NodeType
	prefix string // of client_id
	deflt  string // of the node id where none is given
}

// The two of docs/protocols/zeus-nodes.md#endpoints.
var (
	extension = &kind{"extension", nodev1.NodeType_NODE_TYPE_EXTENSION, "user_", "ext_"}
	desktop   = &kind{"desktop", nodev1.NodeType_NODE_TYPE_DESKTOP, "desktop_", "desktop_"}
)

// accept upgrades a request whose user has been parsed; problem is why the connection may not stay, or nil. A client
// that may not stay is told by close code, which a browser can read, unlike the status of a failed upgrade; a flood is told
// by status, since an upgrade costs too much. It returns nil where there is no connection to serve. The edge has checked
// the origin.
func (z *Zeus) accept(w http.ResponseWriter, r *http.Request, client string, user ids.UserID, problem *refusal) (*conn.Conn, seat) {
	if z.Refuse() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "this pod is shutting down, connect again", http.StatusServiceUnavailable)
		return nil, seat{}
	}
	id, err := z.Auth.AuthenticateSocket(r, user)
	switch {
	case err == nil && problem == nil:
		connlimit.Known(r.Context())
	case problem == nil:
		problem = &refusal{conn.NotAllowed, err.Error()}
	}
	s, err := z.seat(r, client, user, problem)
	if err != nil {
		edge.NewProblem(err, nil).Write(w)
		return nil, seat{}
	}
	c, err := conn.Accept(w, r, id.Subprotocol, z.Conn)
	if err != nil {
		z.Logger.Debug("upgrade failed", "error", err)
		s.leave()
		return nil, seat{}
	}
	if problem != nil {
		z.Logger.Info("connection refused", "reason", problem.reason.String(), "problem", problem.message)
		c.Close(problem.reason)
		z.serve(c, client, s, func() conn.Handler { return drop })
		return nil, seat{}
	}
	c.Owner = frame.Owner(user)
	c.EndAt(id.Ends())
	return c, s
}

// detachTimeout bounds what is left to do for a connection that has ended.
const detachTimeout = 5 * time.Second

// refusal is why a connection may not stay.
type refusal struct {
	reason  conn.Reason
	message string
}
