// Package rpc is the gRPC server of a pod as a part of its program: with health and reflection, on a listener whose
// address is known before it serves, with an end that lets calls finish, and with errors that say no more than a caller may
// know ([Errors]).
package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
)

// Server is one pod's gRPC server.
type Server struct {
	*grpc.Server
	health   *health.Server
	listener net.Listener
}

// Listen returns a server on addr that does not serve yet. register adds the services; each of them is healthy until
// [Server.Drain].
func Listen(ctx context.Context, addr string, register func(*grpc.Server), opts ...grpc.ServerOption) (*Server, error) {
	limit, err := connlimit.New(services)
	if err != nil {
		return nil, err
	}
	return ListenLimited(ctx, addr, limit, register, opts...)
}

// services limits connections that have made no call yet, on ports that are for services of ours.
var services = connlimit.Config{PerAddress: 512, InAll: 4096}

// Bounds of what comes before a call.
const (
	handshake = 10 * time.Second
	maxHeader = 64 << 10 // bytes
)

// ListenLimited is [Listen] with the caller's own limit on connections of unknown clients.
func ListenLimited(ctx context.Context, addr string, limit *connlimit.Limit, register func(*grpc.Server), opts ...grpc.ServerOption) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("gRPC port: %w", err)
	}
	return newServer(listener, limit, register, opts...), nil
}

// On is [Listen] on a listener that is open already. The server closes it.
func On(listener net.Listener, register func(*grpc.Server), opts ...grpc.ServerOption) (*Server, error) {
	limit, err := connlimit.New(services)
	if err != nil {
		return nil, err
	}
	return newServer(listener, limit, register, opts...), nil
}

func newServer(listener net.Listener, limit *connlimit.Limit, register func(*grpc.Server), opts ...grpc.ServerOption) *Server {
	opts = append(opts, grpc.ConnectionTimeout(handshake), grpc.MaxHeaderListSize(maxHeader),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
	s := &Server{Server: grpc.NewServer(opts...), health: health.NewServer(), listener: limit.Listen(listener)}
	register(s.Server)
	for service := range s.GetServiceInfo() {
		s.health.SetServingStatus(service, healthv1.HealthCheckResponse_SERVING)
	}
	healthv1.RegisterHealthServer(s.Server, s.health)
	reflection.Register(s.Server)
	return s
}

// AddTo makes a server a part of g. listen makes it when its turn comes, and is called once; stopped, if not nil, waits
// for what the calls left behind.
func AddTo(g *lifecycle.Group, listen func(context.Context) (*Server, error), stopped func()) {
	var s *Server
	g.Add("grpc listener", func(ctx context.Context) (err error) {
		s, err = listen(ctx)
		return err
	}, func(context.Context) error { return s.close() })
	g.Go("grpc", func(context.Context) error { return s.serve() }, func(ctx context.Context) error {
		s.Close(ctx)
		if stopped != nil {
			stopped()
		}
		return nil
	})
}

// Addr returns the listener's address.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Drain makes the gRPC health service report that the pod should get no new work.
func (s *Server) Drain() { s.health.Shutdown() }

func (s *Server) serve() error {
	// A pod that is stopped the moment it starts has stopped its server before it serves.
	if err := s.Serve(s.listener); !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// Close takes no new calls, tells clients to connect elsewhere, and lets calls finish until ctx ends. To close twice is
// harmless.
func (s *Server) Close(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.Stop()
		<-done
	}
}

// close is harmless where the server has closed its listener already.
func (s *Server) close() error {
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
