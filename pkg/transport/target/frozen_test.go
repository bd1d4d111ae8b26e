package target_test

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
)

// freezer is a listener whose connections stay open and say nothing any more once frozen is closed, as those of a process
// that is paused.
type freezer struct {
	net.Listener
	frozen, over <-chan struct{}
}

func (f *freezer) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	return &freezing{c, f}, err
}

type freezing struct {
	net.Conn
	*freezer
}

func (c *freezing) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.frozen:
		<-c.over
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *freezing) Write(b []byte) (int, error) {
	select {
	case <-c.frozen:
		<-c.over
		return 0, net.ErrClosed
	default:
		return c.Conn.Write(b)
	}
}

// A replica that is paused is left, whatever the client asks of it.
func TestWhoAnswersNothingIsLeft(t *testing.T) {
	t.Parallel()
	frozen, over := make(chan struct{}), make(chan struct{})
	addrs := ""
	for i := range 2 {
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs += ln.Addr().String()
		if i == 0 {
			addrs, ln = addrs+",", &freezer{ln, frozen, over}
		}
		s := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
		healthv1.RegisterHealthServer(s, health.NewServer())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		t.Cleanup(func() {
			s.Stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { close(over) })
	addr, opts := target.RoundRobin(addrs)
	cc, err := grpc.NewClient(addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	answered := func() bool { // ten times in a row, as they take turns
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := healthv1.NewHealthClient(cc).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
			cancel()
			if err != nil {
				return false
			}
		}
		return true
	}
	testkit.Eventually(t, 10*time.Second, answered, "both answer")
	close(frozen)
	if answered() {
		t.Error("nothing was asked of the frozen one")
	}
	testkit.Eventually(t, 40*time.Second, answered, "all calls are answered by the other one")
}
