package target_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
)

// directory is a DNS server that knows one name.
type directory struct {
	t    *testing.T
	conn net.PacketConn

	mu    sync.Mutex
	addrs []string
	code  dnsmessage.RCode
	count int // of questions
}

func newDirectory(t *testing.T) *directory {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &directory{t: t, conn: conn}
	var work sync.WaitGroup
	work.Go(d.serve)
	t.Cleanup(func() {
		_ = conn.Close()
		work.Wait()
	})
	return d
}

// says changes what the name has.
func (d *directory) says(code dnsmessage.RCode, addrs ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.code, d.addrs = code, addrs
}

// asked returns how often somebody asked.
func (d *directory) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

func (d *directory) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := d.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if answer, err := d.answer(buf[:n]); err != nil {
			d.t.Error(err)
		} else {
			_, _ = d.conn.WriteTo(answer, from) // who asked asks again
		}
	}
}

func (d *directory) answer(query []byte) ([]byte, error) {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	h.Response, h.Authoritative, h.RCode = true, true, d.code
	m := dnsmessage.Message{Header: h, Questions: []dnsmessage.Question{q}}
	for _, a := range d.addrs {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()},
			})
		}
	}
	return m.Pack()
}

// replica is a server that counts its calls.
type replica struct {
	*grpc.Server
	calls atomic.Int64
}

func startReplica(t *testing.T, host string, port int) *replica {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", host, port))
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{}
	r.Server = grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		r.calls.Add(1)
		return next(ctx, req)
	}))
	healthv1.RegisterHealthServer(r.Server, health.NewServer())
	go func() { _ = r.Serve(ln) }()
	t.Cleanup(r.Stop)
	return r
}

// named connects to what the directory says of a name.
func named(t *testing.T, d *directory, port int) healthv1.HealthClient {
	t.Helper()
	addr, opts := target.RoundRobin(fmt.Sprintf("dns://%s/replicas.test.:%d", d.conn.LocalAddr(), port), "grpc.health.v1.Health")
	cc, err := grpc.NewClient(addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return healthv1.NewHealthClient(cc)
}

func check(t *testing.T, c healthv1.HealthClient) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := c.Check(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true)); err != nil {
		t.Fatal(err)
	}
}

// Replicas are replaced one after the other, each by one at another address, faster than gRPC's own resolver would look
// twice. Nobody waits for it.
func TestReplicasThatAreReplacedAreFollowed(t *testing.T) {
	t.Parallel()
	d, port := newDirectory(t), testkit.FreePort()
	d.says(dnsmessage.RCodeSuccess, "127.0.0.11", "127.0.0.12")
	running := []*replica{startReplica(t, "127.0.0.11", port), startReplica(t, "127.0.0.12", port)}
	c := named(t, d, port)
	check(t, c)
	for next := 13; next < 19; next++ {
		fresh := startReplica(t, fmt.Sprintf("127.0.0.%d", next), port)
		d.says(dnsmessage.RCodeSuccess, fmt.Sprintf("127.0.0.%d", next-1), fmt.Sprintf("127.0.0.%d", next))
		running[0].GracefulStop()
		running = []*replica{running[1], fresh}
		check(t, c)
	}
	testkit.Eventually(t, 20*time.Second, func() bool {
		check(t, c)
		return running[0].calls.Load() > 0 && running[1].calls.Load() > 0
	}, "both of the last replicas are called")
}

func TestAReplicaThatIsAddedGetsItsShare(t *testing.T) {
	t.Parallel()
	d, port := newDirectory(t), testkit.FreePort()
	d.says(dnsmessage.RCodeSuccess, "127.0.0.21")
	startReplica(t, "127.0.0.21", port)
	c := named(t, d, port)
	check(t, c)
	added := startReplica(t, "127.0.0.22", port)
	d.says(dnsmessage.RCodeSuccess, "127.0.0.22", "127.0.0.21")
	testkit.Eventually(t, 20*time.Second, func() bool {
		check(t, c)
		return added.calls.Load() > 0
	}, "it is called")
}

// A directory that knows nothing for a while is no reason to leave those who are there.
func TestReplicasStayWhileTheNameIsAway(t *testing.T) {
	t.Parallel()
	for i, code := range []dnsmessage.RCode{dnsmessage.RCodeNameError, dnsmessage.RCodeServerFailure, dnsmessage.RCodeSuccess} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			d, port, host := newDirectory(t), testkit.FreePort(), fmt.Sprintf("127.0.0.%d", 31+i)
			d.says(code)
			c := named(t, d, port)
			if _, err := c.Check(t.Context(), &healthv1.HealthCheckRequest{}); err == nil {
				t.Fatal("nobody is there")
			}
			d.says(dnsmessage.RCodeSuccess, host)
			r := startReplica(t, host, port)
			check(t, c)
			d.says(code)
			asked := d.asked()
			testkit.Eventually(t, 20*time.Second, func() bool {
				check(t, c)
				return d.asked() > asked+1
			}, "the name is looked up again")
			before := r.calls.Load()
			check(t, c)
			if r.calls.Load() == before {
				t.Error("it was left")
			}
		})
	}
}

// While the directory is away, those whose replicas work leave it alone: it would come back to all of them asking at once.
func TestADirectoryThatIsAwayIsNotAskedMoreOften(t *testing.T) {
	t.Parallel()
	d, port := newDirectory(t), testkit.FreePort()
	d.says(dnsmessage.RCodeSuccess, "127.0.0.41")
	startReplica(t, "127.0.0.41", port)
	c := named(t, d, port)
	check(t, c)
	d.says(dnsmessage.RCodeNameError)
	asked := d.asked()
	looks := func(n int) func() bool {
		return func() bool { return d.asked() >= asked+2*n } // for addresses of either kind
	}
	testkit.Eventually(t, 20*time.Second, looks(1), "the name is looked up in vain")
	first := time.Now()
	testkit.Eventually(t, 20*time.Second, looks(2), "the name is looked up again")
	if soon := time.Since(first); soon < 3*time.Second {
		t.Errorf("it is asked again after %v", soon)
	}
	check(t, c)
}
