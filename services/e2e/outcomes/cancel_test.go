package outcomes_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Over gRPC and HTTP the caller is gone and gets the error of its own library; the cancel action of a stream is answered.
func TestTheNodeHearsThatACallerGaveUp(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":20`)
	for i, g := range c.Gateways {
		for _, w := range cluster.Ways {
			way := w.Name + " through gateway " + strconv.Itoa(i)
			ctx, giveUp := context.WithCancel(t.Context())
			end := begin(ctx, w, g, call("u", "n", time.Minute))
			running := n.Call()
			giveUp()
			got := ended(t, end)
			switch {
			case w.Name == "Calls":
				expect(t, way, got, "CANCELLED")
			case w.Name == "REST" && got.Err == nil, w.Name != "REST" && got.Code != codes.Canceled:
				t.Errorf("%s: %v", way, got)
			}
			begun := time.Now()
			cancelled(t, n, running)
			if took := time.Since(begun); took > roundTrip {
				t.Errorf("%s: the node heard after %v", way, took)
			}
			n.Answer(running, cluster.Text("too late"))
			n.Silent()
		}
	}
}

// A body without a length ends in a chunk of its own, which the server has to read before it can see a client go.
func TestAChunkedRequestIsGivenUpAsAnyOther(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	body := io.MultiReader(strings.NewReader(`{"tool_name":"click",`), strings.NewReader(`"node_id":"n"} `))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.Gateways[1].HTTP+"/api/node/browser/tool", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-User-Id", "u")
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	running := n.Call()
	giveUp()
	<-gone
	cancelled(t, n, running)
}

func TestTheEndOfAStreamGivesUpItsCalls(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":20`)
	for _, g := range c.Gateways {
		ctx, end := context.WithCancel(t.Context())
		stream := newCalls(t, ctx, g)
		running := map[string]cluster.ToolCall{}
		for id := range uint64(3) {
			stream.start(id+1, call("u", "n", time.Minute))
			r := n.Call()
			running[r.ID] = r
		}
		end()
		for range 3 {
			notice := n.Call()
			if _, known := running[notice.Params.RequestID]; !known || notice.Method != "notifications/cancelled" {
				t.Errorf("the node got %s", notice.Frame)
			}
			delete(running, notice.Params.RequestID)
		}
	}
}

// The reason that a caller gives reaches the node.
func TestACancelActionCarriesItsReason(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	for _, g := range c.Gateways {
		stream := newCalls(t, t.Context(), g)
		stream.start(7, call("u", "n", time.Minute))
		running := n.Call()
		stream.cancel(7, `because "I" say so`)
		if notice := n.Call(); notice.Params.RequestID != running.ID || notice.Params.Reason != `because "I" say so` {
			t.Errorf("the node got %s", notice.Frame)
		}
		if f := stream.next().GetFailure(); f.GetReason() != "CANCELLED" || f.GetOutcome() != "unknown" {
			t.Errorf("the caller got %v", f)
		}
	}
}

// calls is one stream of many calls.
type calls struct {
	t      *testing.T
	stream toolv1.ToolService_CallsClient
}

func newCalls(t *testing.T, ctx context.Context, g *cluster.Gateway) calls {
	t.Helper()
	stream, err := g.Tools.Calls(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return calls{t, stream}
}

func (c calls) send(req *toolv1.CallsRequest) {
	c.t.Helper()
	if err := c.stream.Send(req); err != nil {
		c.t.Errorf("send on a stream: %v", err)
	}
}

func (c calls) start(id uint64, call *toolv1.Call) {
	c.t.Helper()
	c.send(&toolv1.CallsRequest{Id: id, Action: &toolv1.CallsRequest_Start{Start: call}})
}

func (c calls) cancel(id uint64, reason string) {
	c.t.Helper()
	c.send(&toolv1.CallsRequest{Id: id, Action: &toolv1.CallsRequest_Cancel{Cancel: &toolv1.Cancel{Reason: reason}}})
}

func (c calls) next() *toolv1.CallsResponse {
	c.t.Helper()
	resp, err := c.stream.Recv()
	if err != nil {
		c.t.Fatalf("the stream ended: %v", err)
	}
	return resp
}

// ended returns how the stream ended.
func (c calls) ended() codes.Code {
	c.t.Helper()
	for {
		if _, err := c.stream.Recv(); errors.Is(err, io.EOF) {
			return codes.OK
		} else if err != nil {
			return status.Code(err)
		}
	}
}
