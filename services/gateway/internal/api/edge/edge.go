package edge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/http1"
)

// Routes is a part of the public side: a dialect or a REST API.
type Routes interface {
	Routes(mux *http.ServeMux)
}

// Server is the public listener.
type Server struct {
	http  http.Server
	front *http1.Server // before http
	tcp   *net.TCPListener
	ln    net.Listener // tcp, with limit
	new   newcomers
	log   *slog.Logger
	// limit is for connections whose client is not known yet.
	limit *connlimit.Limit
}

// New returns a server of the given parts, behind layers; limit is for connections whose client is not
// known yet.
func New(addr string, log *slog.Logger, limit *connlimit.Limit, layers Layer, parts ...Routes) *Server {
	mux := http.NewServeMux()
	for _, p := range parts {
		p.Routes(mux)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			JSON(w, http.StatusOK, about)
			return
		}
		Problem{
			Type: "about:blank", Title: "Not Found", Status: http.StatusNotFound,
			Error: "no such endpoint: " + r.Method + " " + r.URL.Path,
		}.Write(w)
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		JSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	s := &Server{log: log, limit: limit, new: newcomers{conns: make(map[net.Conn]struct{})}}
	s.http = http.Server{
		Addr:      addr,
		Handler:   s.new.seen(recovered(log, layers(mux))),
		ConnState: s.new.changed,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return s.new.context(connlimit.Context(ctx, c), c)
		},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s
}

// about is what GET / answers (docs/protocols/nodes-rest.md#health).
var about = struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Status  string `json:"status"`
}{"Zeus Backend API", "1.0.0", "running"}

// Listen opens the listener.
func (s *Server) Listen(ctx context.Context) error {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // its sockets take no filter, which newcomers needs
	ln, err := config.Listen(ctx, "tcp", s.http.Addr)
	if err != nil {
		return err
	}
	s.tcp = ln.(*net.TCPListener)
	s.ln = s.limit.Listen(ln)
	if s.front, err = http1.New(&s.http); err != nil {
		return errors.Join(err, ln.Close())
	}
	return nil
}

// Addr returns the listener's address.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Serve answers until Shutdown.
func (s *Server) Serve(context.Context) error {
	if err := s.front.Serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops listening and waits for requests, also for those of connections that have just been made; at the end of ctx it
// cuts them off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.new.last(ctx, s.tcp)
	return s.front.Shutdown(ctx)
}

// recovered ends a request whose handler panicked, and nothing else.
func recovered(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				log.ErrorContext(r.Context(), "handler panicked", "panic", v, "path", r.URL.Path)
				Problem{Type: "about:blank", Title: "Internal Server Error", Status: 500, Error: "internal error"}.Write(w)
			}
		}()
		next.ServeHTTP(w, r)
	})
}
