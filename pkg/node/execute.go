package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// call admits a call and executes it in its own goroutine, which [calls] owns.
func (s *session) call(ctx context.Context, f callFrame) {
	tool := s.node.tools[f.call.Tool]
	if tool == nil {
		s.answer(ctx, f, jsonrpc.ErrorFrame([]byte(f.id), jsonrpc.CodeMethodNotFound,
			fmt.Sprintf("Unknown tool: %q; this node has: %s", f.call.Tool, strings.Join(s.node.names, ", "))))
		return
	}
	callCtx, active, err := s.node.calls.begin(ctx, s, f.id)
	switch {
	case errors.Is(err, errRunning):
		// An error would end the wait for the first one, whose answer serves both.
		s.node.opts.Logger.WarnContext(ctx, "call received twice", "call", f.call.ID)
		return
	case err != nil:
		s.answer(ctx, f, refusal(f.id, err))
		return
	}
	go func() {
		defer s.node.calls.end(active)
		frame := s.execute(callCtx, f, tool)
		s.node.calls.executed(active)
		s.answer(callCtx, f, frame)
	}()
}

func refusal(id callID, err error) []byte {
	code := codeBusy
	if errors.Is(err, errExecuted) {
		code = jsonrpc.CodeInvalidRequest
	}
	return jsonrpc.ErrorFrame([]byte(id), code, err.Error())
}

// execute waits for a slot, runs the tool in it, and returns the answer.
func (s *session) execute(ctx context.Context, f callFrame, tool Handler) []byte {
	if err := s.node.calls.acquire(ctx); err != nil {
		return failure(f.id, fmt.Errorf("%w: %w", err, endOf(ctx)))
	}
	defer s.node.calls.release()
	result, err := s.runTool(ctx, f, tool)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = endOf(ctx) // "context canceled" says less
	}
	var frame []byte
	if err == nil {
		frame, err = result.answer(f.id)
	}
	if err != nil {
		return failure(f.id, err)
	}
	return frame
}

// endOf says why a call's context ended. Without a cause of its own, the context was ended by Run.
func endOf(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return cause
	}
	return errStopping
}

// runTool calls the handler; a panic becomes its error.
func (s *session) runTool(ctx context.Context, f callFrame, tool Handler) (_ Result, err error) {
	if f.progressToken != nil {
		f.call.progress = &progress{
			token: f.progressToken,
			send:  func(frame []byte) error { return s.send(ctx, frame) },
		}
		defer f.call.progress.end()
	}
	defer func() {
		if r := recover(); r != nil {
			s.node.opts.Logger.ErrorContext(ctx, "tool panicked",
				"tool", f.call.Tool, "call", f.call.ID, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = errors.New("the tool panicked; the node's log has the details")
		}
	}()
	return tool(ctx, f.call)
}

// failure is the error answer of docs/protocols/zeus-nodes.md#results, whose message begins as the documented one does.
func failure(id callID, err error) []byte {
	var params *ParamsError
	if errors.As(err, &params) {
		return jsonrpc.ErrorFrame([]byte(id), jsonrpc.CodeInvalidParams, params.Problem)
	}
	return jsonrpc.ErrorFrame([]byte(id), jsonrpc.CodeInternalError, "Tool execution failed: "+err.Error())
}

// answer sends the frame, or what fits in its place, over the connection that the call came on. Where that fails the
// answer is dropped: on another connection nobody waits for it.
func (s *session) answer(ctx context.Context, f callFrame, frame []byte) {
	if len(frame) > MaxFrameBytes {
		frame = failure(f.id, fmt.Errorf("the answer has %d bytes, a frame holds at most %d", len(frame), MaxFrameBytes))
	}
	if err := s.send(ctx, frame); err != nil {
		s.node.opts.Logger.WarnContext(ctx, "answer dropped, it could not be sent",
			"tool", f.call.Tool, "call", f.call.ID, "bytes", len(frame), "error", err)
	}
}
