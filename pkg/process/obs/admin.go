package obs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
)

// checkTimeout bounds the answer of /readyz; Kubernetes gives a probe one second by default, and a dependency that needs
// longer is not there.
const checkTimeout = 900 * time.Millisecond

// Admin serves the admin port of one pod: /livez, /readyz, /metrics and /debug/pprof. It is for operators; it belongs on an
// address that the public cannot reach. [AdminDoor] says which requests it accepts.
type Admin struct {
	// static after construction
	opts   AdminOptions
	door   *adminDoor
	mux    *http.ServeMux
	server *http.Server

	// set by Listen
	listener net.Listener
}

// AdminOptions are what an [Admin] needs.
type AdminOptions struct {
	Addr    string
	Door    AdminDoor
	Metrics prometheus.Gatherer
	Ready   *lifecycle.Ready
	Logger  *slog.Logger // nil means discard
}

// NewAdmin returns an Admin.
func NewAdmin(o AdminOptions) (*Admin, error) {
	o.Logger = OrDiscard(o.Logger)
	door, err := o.Door.open(o.Addr, o.Logger)
	if err != nil {
		return nil, err
	}
	a := &Admin{opts: o, door: door, mux: http.NewServeMux()}
	a.routes()
	a.server = &http.Server{
		Handler:           a.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          slog.NewLogLogger(a.opts.Logger.Handler(), slog.LevelWarn),
	}
	return a, nil
}

// AddTo makes the server a part of g. Added first, it answers probes until everything else has stopped.
func (a *Admin) AddTo(g *lifecycle.Group) {
	g.Add("admin listener", a.Listen, a.Close)
	g.Go("admin", a.Serve, a.Shutdown)
}

// Listen opens the port; from then on Addr knows it.
func (a *Admin) Listen(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.opts.Addr)
	if err != nil {
		return fmt.Errorf("admin port: %w", err)
	}
	a.listener = listener
	return nil
}

// Addr returns the address that Listen opened, which tells the port where ":0" was asked for; "" before.
func (a *Admin) Addr() string {
	if a.listener == nil {
		return ""
	}
	return a.listener.Addr().String()
}

// Serve answers requests until Shutdown.
func (a *Admin) Serve(context.Context) error {
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// shutdownTimeout is what a request in progress has at most: a probe needs less, and a pod does not wait for a profile.
const shutdownTimeout = time.Second

// Shutdown lets requests in progress finish, but not for long, then cuts them.
func (a *Admin) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	if err := a.server.Shutdown(ctx); err != nil {
		return a.server.Close()
	}
	return nil
}

// Close closes the port; it is harmless after Shutdown.
func (a *Admin) Close(context.Context) error {
	if err := a.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Handle adds what a service has beyond the usual; call it before Listen. The pattern is that of [http.ServeMux].
func (a *Admin) Handle(pattern string, h http.Handler) { a.mux.Handle(pattern, h) }

// Handler returns what the port serves.
func (a *Admin) Handler() http.Handler { return a.door.wrap(a.mux) }

func (a *Admin) routes() {
	mux := a.mux
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"status": "alive"})
	})
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.opts.Metrics, promhttp.HandlerOpts{
		ErrorLog:          slog.NewLogLogger(a.opts.Logger.Handler(), slog.LevelWarn),
		EnableOpenMetrics: true, // the only form that has exemplars
	}))
	profiles(mux)
}

// readyz answers 200, or 503 with the conditions that fail and why.
func (a *Admin) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	failing := a.opts.Ready.Failing(ctx)
	if len(failing) == 0 {
		writeJSON(w, http.StatusOK, map[string]any{"status": "ready"})
		return
	}
	reasons := make(map[string]string, len(failing))
	for name, err := range failing {
		reasons[name] = err.Error()
	}
	writeJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "failing": reasons})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the prober may have gone; nothing is owed to it
}
