package toolclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// gateway is a ToolService over real gRPC that does with each call what its script says.
type gateway struct {
	toolv1.UnimplementedToolServiceServer
	t       testing.TB
	name    string
	options []grpc.ServerOption

	questions questions
	leave     <-chan struct{} // closed when streams end as those of a pod that drains do; nil for never

	mu      sync.Mutex
	script  func(*received)
	addr    string
	server  *grpc.Server
	served  chan error
	streams int
	calls   []*toolv1.Call
	cancels []string
}

// received is one call as a script sees it.
type received struct {
	gateway *gateway
	nth     int // among the calls of this gateway, from 1
	call    *toolv1.Call
	id      uint64
	send    func(*toolv1.CallsResponse)
}

func (r *received) answer(result string) {
	r.send(&toolv1.CallsResponse{Id: r.id, Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{
		NodeId: r.gateway.name, Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(result)},
	}}})
}

func (r *received) fail(reason errs.Reason) {
	r.refuse(errs.New(reason, "as the script says").Failure())
}

func (r *received) refuse(f *toolv1.Failure) {
	r.send(&toolv1.CallsResponse{Id: r.id, Event: &toolv1.CallsResponse_Failure{Failure: f}})
}

func (r *received) progress(message string) {
	r.send(&toolv1.CallsResponse{Id: r.id, Event: &toolv1.CallsResponse_Progress{Progress: &toolv1.Progress{Message: message}}})
}

// answers, fails and silent are the simplest scripts.
func answers(r *received) { r.answer(`{"content":[]}`) }

func fails(reason errs.Reason) func(*received) {
	return func(r *received) { r.fail(reason) }
}

func silent(*received) {}

// serve starts a gateway that stops with the test.
func serve(t testing.TB, name string, script func(*received), options ...grpc.ServerOption) *gateway {
	t.Helper()
	g := &gateway{t: t, name: name, script: script, options: options, addr: "127.0.0.1:0"}
	g.start()
	t.Cleanup(g.kill)
	return g
}

// start listens, after a kill where it did before.
func (g *gateway) start() {
	g.t.Helper()
	listener, err := net.Listen("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addr = listener.Addr().String()
	server, served := grpc.NewServer(append([]grpc.ServerOption{grpc.MaxRecvMsgSize(16 << 20)}, g.options...)...), make(chan error, 1)
	toolv1.RegisterToolServiceServer(server, g)
	g.server, g.served = server, served
	go func() { served <- server.Serve(listener) }()
}

// kill cuts every connection.
func (g *gateway) kill() { g.end((*grpc.Server).Stop) }

// drain lets calls finish, as a pod does that is told to stop.
func (g *gateway) drain() { g.end((*grpc.Server).GracefulStop) }

func (g *gateway) end(how func(*grpc.Server)) {
	g.mu.Lock()
	server, served := g.server, g.served
	g.server = nil
	g.mu.Unlock()
	if server == nil {
		return
	}
	how(server)
	if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		g.t.Errorf("gateway %s: %v", g.name, err)
	}
}

// Calls implements ToolService.
func (g *gateway) Calls(stream grpc.BidiStreamingServer[toolv1.CallsRequest, toolv1.CallsResponse]) error {
	g.mu.Lock()
	g.streams++
	g.mu.Unlock()
	read := make(chan error, 1)
	go func() { read <- g.read(stream) }() // ends with the stream
	select {
	case err := <-read:
		return err
	case <-g.leave:
		return errs.New(errs.Draining, "leaving")
	}
}

func (g *gateway) read(stream grpc.BidiStreamingServer[toolv1.CallsRequest, toolv1.CallsResponse]) error {
	var mu sync.Mutex // of sending
	send := func(r *toolv1.CallsResponse) {
		mu.Lock()
		defer mu.Unlock()
		_ = stream.Send(r) // the client may have gone, which its test knows
	}
	for {
		req, err := stream.Recv()
		if err == io.EOF { //nolint:errorlint // as gRPC returns it
			return nil
		}
		if err != nil {
			return err
		}
		g.mu.Lock()
		if req.GetStart() != nil {
			g.calls = append(g.calls, req.GetStart())
		} else {
			g.cancels = append(g.cancels, req.GetCancel().GetReason())
		}
		nth, script := len(g.calls), g.script
		g.mu.Unlock()
		if req.GetStart() != nil {
			script(&received{gateway: g, nth: nth, call: req.GetStart(), id: req.GetId(), send: send})
		}
	}
}

func (g *gateway) setScript(script func(*received)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.script = script
}

// seen returns the calls that arrived.
func (g *gateway) seen() []*toolv1.Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*toolv1.Call(nil), g.calls...)
}

func (g *gateway) cancelled() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.cancels...)
}

func (g *gateway) opened() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.streams
}

// plain are dial options without any identity.
var plain = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}

// dial returns a client of the gateways, which is closed with the test.
func dial(t testing.TB, patience toolclient.Patience, gateways ...*gateway) *toolclient.Client {
	t.Helper()
	o := toolclient.Options{Dial: plain, Patience: patience}
	for _, g := range gateways {
		o.Targets = append(o.Targets, g.addr)
	}
	return dialWith(t, o, len(gateways))
}

// dialWith returns once as many gateways as were asked for take calls.
func dialWith(t testing.TB, o toolclient.Options, up int) *toolclient.Client {
	t.Helper()
	c, err := toolclient.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	testkit.Eventually(t, 10*time.Second, func() bool { return toolclient.Up(c) == up }, "%d gateways are up", up)
	return c
}

func call(tool string) *toolv1.Call {
	return &toolv1.Call{UserId: "ana", NodeId: "desk", ToolName: tool, ArgumentsJson: []byte(`{"x":1}`)}
}

// calling makes one call on a goroutine of its own.
func calling(ctx context.Context, c *toolclient.Client, what *toolv1.Call) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		answer, err := c.Call(ctx, what)
		done <- outcome{answer, err}
	}()
	return done
}

type outcome struct {
	answer *toolv1.Answer
	err    error
}
