package toolapi

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

// maxProgress is how many progress notifications wait for a caller that reads slowly; what does not fit is left out, and
// the next one says more.
const maxProgress = 64

// CallToolStream implements ToolService.
func (s *Service) CallToolStream(req *toolv1.CallToolStreamRequest, stream grpc.ServerStreamingServer[toolv1.CallToolStreamResponse]) error {
	account, err := enter(s.Limits, req)
	if err != nil {
		return err
	}
	defer account.Leave()
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	progress := make(chan *toolv1.Progress, maxProgress)
	var answer *router.Answer
	done := make(chan struct{})
	go func() { // ends with the call; this method waits for it
		defer close(done)
		answer, err = s.call(ctx, req.GetCall(), func(params []byte) {
			select {
			case progress <- readProgress(params):
			default:
			}
		})
	}()
	var sendErr error
	send := func(p *toolv1.Progress) {
		if sendErr != nil {
			return
		}
		sendErr = stream.Send(&toolv1.CallToolStreamResponse{Event: &toolv1.CallToolStreamResponse_Progress{Progress: p}})
		if sendErr != nil {
			cancel()
		}
	}
	for over := false; !over; {
		select {
		case p := <-progress:
			send(p)
		case <-done:
			over = true
		}
	}
	for len(progress) > 0 {
		send(<-progress)
	}
	switch {
	case err != nil:
		return err
	case sendErr != nil:
		answer.Release()
		return sendErr
	}
	return stream.SendMsg(&answerMessage{answer: answer, field: fieldStreamAnswer})
}

// readProgress decodes the params of a notifications/progress; what is malformed is left out.
func readProgress(params []byte) *toolv1.Progress {
	var p struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	_ = json.Unmarshal(params, &p)
	return &toolv1.Progress{Progress: p.Progress, Total: p.Total, Message: p.Message}
}
