package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
)

// Server serves the connections of one listener.
type Server struct {
	// Static after New.
	http  *http.Server
	other *others
	watch *watch        // nil where there is none
	quit  chan struct{} // closed by quitting, when nobody is waited for any more

	stopping atomic.Bool // set with mu held
	quitting sync.Once
	work     sync.WaitGroup // the connections' goroutines

	mu    sync.Mutex
	ln    net.Listener // nil until Serve
	conns map[*conn]struct{}
}

// New returns a server of h's handler. What is not ordinary is served by h itself; its ConnContext, ConnState, ReadHeaderTimeout,
// IdleTimeout and ErrorLog hold for all connections.
func New(h *http.Server) (*Server, error) {
	w, err := newWatch()
	if err != nil {
		return nil, err
	}
	return &Server{http: h, other: newOthers(), watch: w, quit: make(chan struct{}), conns: make(map[*conn]struct{})}, nil
}

// Serve accepts connections until Shutdown, after which it returns [http.ErrServerClosed]. It is called once.
func (s *Server) Serve(ln net.Listener) error {
	if s.watch == nil {
		return s.http.Serve(ln)
	}
	s.mu.Lock()
	s.ln = ln
	s.mu.Unlock()
	if s.stopping.Load() {
		_ = ln.Close() // Shutdown did not know of it
	}
	var others error
	var work sync.WaitGroup
	work.Go(func() { others = s.http.Serve(s.other) })
	err := s.accept(ln)
	if s.stopping.Load() {
		err = nil
	} else {
		_ = s.other.Close() // never fails
	}
	work.Wait()
	return errors.Join(err, others)
}

// accept begins the service of each connection.
func (s *Server) accept(ln net.Listener) error {
	for pause := time.Duration(0); ; {
		nc, err := ln.Accept()
		var again net.Error
		switch {
		case err == nil:
			pause = 0
			s.begin(nc)
		case errors.As(err, &again) && again.Temporary(): //nolint:staticcheck // too many open files, as net/http treats it
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.log("accept: " + err.Error())
			time.Sleep(pause)
		default:
			return err
		}
	}
}

func (s *Server) begin(nc net.Conn) {
	s.changed(nc, http.StateNew)
	tcp, ok := nc.(*connlimit.Conn)
	if !ok {
		s.giveUp(nc)
		return
	}
	c, err := s.newConn(tcp)
	if err != nil {
		s.giveUp(nc)
		return
	}
	if !s.enter(c) {
		s.giveUp(nc)
	}
}

// enter begins to serve a connection, unless the server stops.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.conns[c] = struct{}{}
	s.work.Go(c.serve)
	return true
}

// Shutdown stops accepting, closes the connections that wait for a request, and waits for the others; at the end of ctx it cuts
// them off. It may be called again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopping.Store(true)
	if s.ln != nil {
		_ = s.ln.Close() // it is closed one way or another
	}
	s.mu.Unlock()
	s.leave(false)
	ended := make(chan struct{})
	go func() {
		s.work.Wait()
		close(ended)
	}()
	err := s.http.Shutdown(ctx)
	select {
	case <-ended:
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	s.quitting.Do(func() { close(s.quit) })
	if err != nil {
		err = errors.Join(err, s.http.Close())
		s.leave(true)
	}
	s.watch.close()
	return err
}

// leave closes connections: all, or those that serve nothing.
func (s *Server) leave(all bool) {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.leave(all)
	}
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) changed(c net.Conn, state http.ConnState) {
	if s.http.ConnState != nil {
		s.http.ConnState(c, state)
	}
}

// giveUp closes a connection that nobody serves.
func (s *Server) giveUp(c net.Conn) {
	_ = c.Close() // there is nobody to tell
	s.changed(c, http.StateClosed)
}

func (s *Server) log(text string) {
	if s.http.ErrorLog != nil {
		s.http.ErrorLog.Print("http1: " + text)
	}
}
