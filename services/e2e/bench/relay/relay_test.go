package relay_test

import (
	"context"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/relay"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func connect(t *testing.T) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect(testkit.NATS(t), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		<-closed
	})
	return nc
}

func entry(t *testing.T) *grpc.ClientConn {
	t.Helper()
	s := grpc.NewServer()
	relay.NewEntry(connect(t)).Register(s)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	conn, err := grpc.NewClient(ln.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return conn
}

func frame(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{"name":"screenshot","arguments":{}}}`)
}

func TestAnswersFindTheirCallers(t *testing.T) {
	t.Parallel()
	holder := httptest.NewServer(relay.NewHolder(connect(t)))
	t.Cleanup(holder.Close)
	conn := entry(t)
	fleet := nodes.NewFleet()
	t.Cleanup(fleet.Close)
	plan := nodes.Plan{Addr: strings.TrimPrefix(holder.URL, "http://"), Dialect: nodes.Bare, Count: 3, PerUser: 10}
	if err := fleet.Connect(plan, new(time.Duration)); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{200, 5000, 200 << 10} {
		if err := fleet.Answer(size, nil); err != nil {
			t.Fatal(err)
		}
		var callers errgroup.Group
		for i := range 60 {
			callers.Go(func() error {
				user, node := nodes.Name(i%plan.Count, plan.PerUser)
				id := strings.Repeat("c", 1+i)
				reply := new(toolv1.Answer)
				err := relay.Call(t.Context(), conn, user+"-"+node, frame(id), reply)
				answer := reply.GetResultJson()
				if err == nil && (len(answer) != nodes.AnswerSize(size, id) || !strings.Contains(string(answer), `"id":"`+id+`"`)) {
					t.Errorf("call %d was answered with %d bytes: %.80s", i, len(answer), answer)
				}
				return err
			})
		}
		if err := callers.Wait(); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
}

func TestCallsOfNobodyFail(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := relay.Call(ctx, entry(t), "nobody", frame("x"), new(toolv1.Answer)); err == nil || !strings.Contains(err.Error(), "no responders") {
		t.Error(err)
	}
}
