package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// Ended is how a tool call ended, whichever way it took into the cluster.
type Ended struct {
	// JSON is the node's result, or its JSON-RPC error; over REST the whole body.
	JSON string
	// Reason and Outcome are empty where the node answered.
	Reason, Outcome, Message string
	// Domain of the ErrorInfo, and the status; HTTP is 0 over gRPC.
	Domain string
	Code   codes.Code
	HTTP   int
	Type   string // of the body, over REST
	// Nodes are the ids to choose from, where somebody has to.
	Nodes []string
	Took  time.Duration
	// Err is what the client library said, where that was no outcome of a call.
	Err error
}

func (e Ended) String() string {
	if e.Err != nil {
		return fmt.Sprintf("error %v", e.Err)
	}
	return fmt.Sprintf("%.200s%s %s (%s, HTTP %d, %v): %s", e.JSON, e.Reason, e.Outcome, e.Code, e.HTTP, e.Took, e.Message)
}

// Way is one way into the cluster.
type Way struct {
	Name string
	Call func(ctx context.Context, g *Gateway, call *toolv1.Call) Ended
}

// Ways are all the ways in which a tool call can enter the cluster.
var Ways = []Way{
	{"CallTool", timed(Unary)}, {"CallToolStream", timed(serverStream)}, {"Calls", timed(callsStream)}, {"REST", timed(overREST)},
}

func timed(f func(context.Context, *Gateway, *toolv1.Call) Ended) func(context.Context, *Gateway, *toolv1.Call) Ended {
	return func(ctx context.Context, g *Gateway, call *toolv1.Call) Ended {
		begin := time.Now()
		e := f(ctx, g, call)
		e.Took = time.Since(begin)
		return e
	}
}

// Unary calls by CallTool.
func Unary(ctx context.Context, g *Gateway, call *toolv1.Call) Ended {
	resp, err := g.Tools.CallTool(ctx, &toolv1.CallToolRequest{Call: call})
	if err != nil {
		return fromStatus(err)
	}
	return answered(resp.GetAnswer())
}

func serverStream(ctx context.Context, g *Gateway, call *toolv1.Call) Ended {
	stream, err := g.Tools.CallToolStream(ctx, &toolv1.CallToolStreamRequest{Call: call})
	for err == nil {
		var resp *toolv1.CallToolStreamResponse
		if resp, err = stream.Recv(); resp.GetAnswer() != nil {
			_, _ = stream.Recv() // the end of the stream
			return answered(resp.GetAnswer())
		}
	}
	return fromStatus(err)
}

// callsStream opens a stream for the one call; ending ctx gives it up by the stream's cancel action.
func callsStream(ctx context.Context, g *Gateway, call *toolv1.Call) Ended {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stream, err := g.Tools.Calls(life)
	if err != nil {
		return fromStatus(err)
	}
	if err := stream.Send(&toolv1.CallsRequest{Id: 1, Action: &toolv1.CallsRequest_Start{Start: call}}); err != nil {
		return fromStatus(err)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = stream.Send(&toolv1.CallsRequest{Id: 1, Action: &toolv1.CallsRequest_Cancel{Cancel: &toolv1.Cancel{Reason: "enough"}}})
	})
	defer stop()
	for {
		resp, err := stream.Recv()
		switch {
		case err != nil:
			return fromStatus(err)
		case resp.GetAnswer() != nil:
			return answered(resp.GetAnswer())
		case resp.GetFailure() != nil:
			return fromFailure(resp.GetFailure())
		}
	}
}

// overREST has no timeout and no preferred node; the type chooses the endpoint, the extension's where it is open.
func overREST(ctx context.Context, g *Gateway, call *toolv1.Call) Ended {
	path := "/api/node/browser/tool"
	if call.GetNodeType() == nodev1.NodeType_NODE_TYPE_DESKTOP {
		path = "/api/node/desktop/tool"
	}
	body := map[string]any{"tool_name": call.GetToolName(), "session_id": call.GetSessionId(), "node_id": call.GetNodeId()}
	if len(call.GetArgumentsJson()) > 0 {
		body["tool_args"] = json.RawMessage(call.GetArgumentsJson())
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return Ended{Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.HTTP+path, strings.NewReader(string(raw)))
	if err != nil {
		return Ended{Err: err}
	}
	req.Header.Set("X-User-Id", call.GetUserId())
	req.Header.Set("Content-Type", "application/json")
	resp, err := httpClient.Do(req)
	if err != nil {
		return Ended{Err: err}
	}
	defer resp.Body.Close()
	return fromHTTP(resp)
}

func answered(a *toolv1.Answer) Ended {
	return Ended{JSON: string(a.GetResultJson()) + string(a.GetErrorJson())}
}

func fromStatus(err error) Ended {
	st, ok := status.FromError(err)
	if !ok {
		return Ended{Err: err}
	}
	e := Ended{Code: st.Code(), Message: st.Message()}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			e.Reason, e.Domain, e.Outcome = d.GetReason(), d.GetDomain(), d.GetMetadata()["outcome"]
		case *toolv1.NodeSelection:
			e.Nodes = idsOf(d.GetAvailableNodes())
		}
	}
	if e.Reason == "" {
		e.Err = err
	}
	return e
}

func fromFailure(f *toolv1.Failure) Ended {
	return Ended{Reason: f.GetReason(), Outcome: f.GetOutcome(), Message: f.GetMessage(), Nodes: idsOf(f.GetAvailableNodes())}
}

func idsOf(nodes []*nodev1.Node) []string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.GetInfo().GetNodeId())
	}
	return list
}

func fromHTTP(resp *http.Response) Ended {
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return Ended{Err: err}
	}
	e := Ended{HTTP: resp.StatusCode, Type: resp.Header.Get("Content-Type")}
	if resp.StatusCode == http.StatusOK {
		e.JSON = string(raw)
		return e
	}
	var problem struct {
		Success                 *bool
		Status                  int
		Reason, Outcome, Detail string
		Nodes                   []struct {
			ID string `json:"node_id"`
		} `json:"available_nodes"`
	}
	if err := json.Unmarshal(raw, &problem); err != nil || problem.Success == nil || *problem.Success || problem.Status != resp.StatusCode {
		e.Err = errors.Join(err, fmt.Errorf("HTTP %d without a problem: %.300s", resp.StatusCode, raw))
	}
	e.Reason, e.Outcome, e.Message = problem.Reason, problem.Outcome, problem.Detail
	for _, n := range problem.Nodes {
		e.Nodes = append(e.Nodes, n.ID)
	}
	return e
}
