package toolapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

func TestRequestsAreChecked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 257)
	for problem, change := range map[string]func(*toolv1.Call){
		"":                           func(*toolv1.Call) {},
		"user_id is required":        func(c *toolv1.Call) { c.UserId = "" },
		"tool_name is required":      func(c *toolv1.Call) { c.ToolName = "" },
		"user_id":                    func(c *toolv1.Call) { c.UserId = long },
		"session_id":                 func(c *toolv1.Call) { c.SessionId = "\x00" },
		"preferred_node_id":          func(c *toolv1.Call) { c.PreferredNodeId = long },
		"epoch must be":              func(c *toolv1.Call) { c.Epoch = 1 },
		"arguments_json must be":     func(c *toolv1.Call) { c.ArgumentsJson = []byte(`[]`) },
		"arguments_json":             func(c *toolv1.Call) { c.ArgumentsJson = []byte(`{`) },
		"timeout must be":            func(c *toolv1.Call) { c.Timeout = durationpb.New(0) },
		"timeout must be a positive": func(c *toolv1.Call) { c.Timeout = &durationpb.Duration{Nanos: -5, Seconds: 1} },
	} {
		c := &toolv1.Call{UserId: "ana", ToolName: "click"}
		change(c)
		req, err := request(t.Context(), c)
		switch {
		case problem == "" && (err != nil || req.User != "ana" || time.Until(req.Deadline) > router.DefaultTimeout):
			t.Errorf("a good call is %+v, %v", req, err)
		case problem != "" && (status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s: %v", problem, err)
		}
	}
}

// What is put together by hand is what protobuf reads, small and large.
func TestAnswersAreProtobuf(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, small, 1 << 20} {
		body := `{"x":"` + strings.Repeat("x", size) + `"}`
		for member, failed := range map[string]bool{"result": false, "error": true} {
			read := func(m *answerMessage, into proto.Message) {
				t.Helper()
				m.answer = router.Read("n", frame.Wrap([]byte(`{"id":"1","`+member+`":`+body+`}`)))
				data, err := NewCodec().Marshal(m)
				if err == nil {
					err = proto.Unmarshal(data.Materialize(), into)
				}
				data.Free()
				if err != nil {
					t.Fatal(err)
				}
			}
			check := func(a *toolv1.Answer) {
				t.Helper()
				got := a.GetResultJson()
				if failed {
					got = a.GetErrorJson()
				}
				if a.GetNodeId() != "n" || string(got) != body || len(a.GetResultJson())+len(a.GetErrorJson()) != len(body) {
					t.Errorf("%s of %d bytes: %.80v", member, size, a)
				}
			}
			var unary toolv1.CallToolResponse
			read(&answerMessage{field: fieldCallToolAnswer}, &unary)
			check(unary.GetAnswer())
			var stream toolv1.CallToolStreamResponse
			read(&answerMessage{field: fieldStreamAnswer}, &stream)
			check(stream.GetAnswer())
			var many toolv1.CallsResponse
			read(&answerMessage{field: fieldCallsAnswer, callID: 300}, &many)
			if check(many.GetAnswer()); many.GetId() != 300 {
				t.Errorf("the id is %d", many.GetId())
			}
		}
	}
}

func TestFailuresOnAStream(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"NODE_BUSY not_delivered":        errs.New(errs.NodeBusy, "busy"),
		"TOOL_TIMEOUT unknown":           errs.New(errs.ToolTimeout, "late"),
		"INVALID_ARGUMENT not_delivered": invalid("wrong"),
		"INTERNAL not_delivered":         errors.New("something else"),
	} {
		if f := failure(err); f.GetReason()+" "+f.GetOutcome() != want || f.GetMessage() == "" {
			t.Errorf("%v became %v", err, f)
		}
	}
}

func TestProgressOfAnyShapeIsRead(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]*toolv1.Progress{
		`{"progress":1,"total":2,"message":"half"}`: {Progress: 1, Total: 2, Message: "half"},
		`{"progress":3}`: {Progress: 3},
		`{`:              {},
	} {
		if got := readProgress([]byte(params)); !proto.Equal(got, want) {
			t.Errorf("%s became %v", params, got)
		}
	}
}

// workflows ends every workflow with the same completion.
type workflows struct {
	completion string
	deadline   time.Time
	target     router.Target
}

func (w *workflows) ExecuteWorkflow(_ context.Context, to router.Target, _ string, _ []byte, deadline time.Time) (*router.Answer, error) {
	w.target, w.deadline = to, deadline
	return &router.Answer{Node: "ext", Frame: frame.Wrap([]byte(w.completion))}, nil
}

func TestExecuteWorkflow(t *testing.T) {
	t.Parallel()
	req := &toolv1.ExecuteWorkflowRequest{UserId: "ana", NodeId: "ext", WorkflowId: "wf"}
	for completion, success := range map[string]bool{`{}`: true, `{"error":null}`: true, `{"error":"no"}`: false} {
		w := &workflows{completion: completion}
		resp, err := (&Service{Workflows: w}).ExecuteWorkflow(t.Context(), req)
		if err != nil || resp.GetSuccess() != success || string(resp.GetCompletionJson()) != completion || resp.GetNodeId() != "ext" {
			t.Errorf("%s: %v, %v", completion, resp, err)
		}
		if w.target.User != "ana" || w.target.Node != "ext" || !w.deadline.IsZero() {
			t.Errorf("asked for %+v until %v", w.target, w.deadline)
		}
	}
	if _, err := (&Service{}).ExecuteWorkflow(t.Context(), req); status.Code(err) != codes.Unimplemented {
		t.Errorf("without a dialect that has workflows: %v", err)
	}
	req.Timeout = durationpb.New(-time.Second)
	if _, err := (&Service{}).ExecuteWorkflow(t.Context(), req); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a negative timeout: %v", err)
	}
}

func TestCallsAreRefusedWhileThePodDrains(t *testing.T) {
	t.Parallel()
	draining := make(chan struct{})
	s := &Service{Draining: draining}
	if err := s.admit(); err != nil {
		t.Error(err)
	}
	close(draining)
	if err := s.admit(); !errors.Is(err, errs.Draining) {
		t.Error(err)
	}
}
