package relay_test

import (
	"context"
	"errors"
	"io"
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

func TestAnswersOnAStreamFindTheirCalls(t *testing.T) {
	t.Parallel()
	holder := httptest.NewServer(relay.NewHolder(connect(t)))
	t.Cleanup(holder.Close)
	fleet := nodes.NewFleet()
	t.Cleanup(fleet.Close)
	plan := nodes.Plan{Addr: strings.TrimPrefix(holder.URL, "http://"), Dialect: nodes.Bare, Count: 3, PerUser: 10, First: 100} // others than the test above has
	if err := errors.Join(fleet.Connect(plan, new(time.Duration)), fleet.Answer(5000, nil)); err != nil {
		t.Fatal(err)
	}
	stream, err := relay.Calls(t.Context(), entry(t))
	if err != nil {
		t.Fatal(err)
	}
	const count = 60
	name := func(id int) string { return strings.Repeat("c", id) }
	for id := 1; id <= count; id++ {
		user, node := nodes.Name(plan.First+id%plan.Count, plan.PerUser)
		call := &toolv1.Call{NodeId: user + "-" + node, ArgumentsJson: frame(name(id))}
		if err := stream.Send(&toolv1.CallsRequest{Id: uint64(id), Action: &toolv1.CallsRequest_Start{Start: call}}); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[uint64]bool)
	for range count {
		r, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		seen[r.GetId()] = true
		if answer := string(r.GetAnswer().GetResultJson()); !strings.Contains(answer, `"id":"`+name(int(r.GetId()))+`"`) {
			t.Errorf("call %d was answered with %.80s", r.GetId(), answer)
		}
	}
	if len(seen) != count {
		t.Errorf("%d of %d calls were answered", len(seen), count)
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ended with %v", err)
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
