package agent

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// preparation is the beginning of a call, which has no effect: it goes on while the start of the call is being stored. A nil
// one is that of a tool that prepares nothing.
type preparation struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when rest is set

	rest func(context.Context) (tool.Result, error) // nil if preparing panicked; set before done is closed
}

// prepare begins to prepare a call on a goroutine of its own. Call end.
func prepare(ctx context.Context, t tool.Prepared, in tool.Invocation, log *slog.Logger) *preparation {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	p := &preparation{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer func() {
			if recover() != nil { // the call does it again, and says what becomes of it
				log.ErrorContext(ctx, "preparing a call panicked", "layer", t.Spec().Layer, "stack", string(debug.Stack()))
			}
		}()
		p.rest = t.Prepare(ctx, in)
	}()
	return p
}

// call does the rest of the call.
func (p *preparation) call(ctx context.Context, t tool.Tool, in tool.Invocation) (tool.Result, error) {
	if p == nil {
		return t.Call(ctx, in)
	}
	stop := context.AfterFunc(ctx, p.cancel)
	<-p.done
	stop()
	if p.rest == nil {
		return t.Call(ctx, in)
	}
	return p.rest(ctx)
}

// end gives up what was prepared and not called, and waits for it.
func (p *preparation) end() {
	p.cancel()
	<-p.done
}

// preparations are those of calls that are about to start.
type preparations map[*store.Call]*preparation

func (p preparations) end() {
	for _, one := range p {
		one.end()
	}
}
