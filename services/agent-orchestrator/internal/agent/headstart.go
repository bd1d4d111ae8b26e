package agent

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/prompt"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// headStartPieces is how many pieces of an answer wait for the run to begin. A model that is ahead by more waits.
const headStartPieces = 256

// maxHeadStarts is how many runs of a pod have a head start at one time. When more begin in the same moment, both their
// beginnings and the answers that come before them would wait for each other.
const maxHeadStarts = 16

// headStart is the first question of a run, asked while the run's beginning is being stored and its tools are looked up. It is a
// guess: the conversation as the store had it, with the tools of the run before. The run makes its own request as if there
// were no head start, and takes the answer over only if the two requests are the same. Until then nobody sees any of it. So a
// wrong guess, or a run that cannot begin, costs a question that is cut off, and nothing else.
//
// A goroutine asks; the run's goroutine takes over. The other fields say who owns them.
type headStart struct {
	// static after construction
	env    *environment // only what is static before the run begins
	frames *frames
	key    frameKey
	at     llm.Endpoint
	window int
	begin  store.Begin // what the run is to begin with
	cancel context.CancelFunc
	leave  func()         // gives the place among the pod's head starts back
	done   chan struct{}  // closed when the goroutine has ended
	pieces chan llm.Delta // closed when the answer has ended

	mu    sync.Mutex
	sent  *llm.Request // what was asked; nil if nothing was; guarded by mu
	taken bool         // the run has made its own request: it is too late to ask; guarded by mu

	answer llm.Answer // set before pieces is closed
	err    error      // set before pieces is closed
}

// newHeadStart begins to ask, if it can be guessed what. Call end.
func newHeadStart(env *environment, f *frames, begin store.Begin, at llm.Endpoint, window int) *headStart {
	h := &headStart{
		env: env, frames: f, at: at, window: window, begin: begin,
		done: make(chan struct{}), pieces: make(chan llm.Delta, headStartPieces), leave: func() {},
	}
	var ctx context.Context
	ctx, h.cancel = context.WithCancel(env.asking)
	h.key = f.key(begin.User, env.settings, toolTokens(env.cfg, window))
	guess, ok := f.guess(h.key)
	if !ok || !env.cfg.HeadStart || !h.enter() {
		close(h.pieces)
		close(h.done)
		return h
	}
	go h.ask(ctx, guess)
	return h
}

// enter takes a place among the pod's head starts, if there is one, until the run takes over or ends.
func (h *headStart) enter() bool {
	select {
	case h.env.headStarts <- struct{}{}:
		h.leave = sync.OnceFunc(func() { <-h.env.headStarts })
		return true
	default:
		return false
	}
}

func (h *headStart) ask(ctx context.Context, guess frame) {
	defer close(h.done)
	defer close(h.pieces)
	messages, ok, err := h.env.deps.Journal.Expect(ctx, h.begin)
	if err != nil || !ok { // Begin says why
		return
	}
	s := h.env.settings
	system := prompt.With(prompt.System(s.mode(), s.HumanOrder, time.Now()), h.env.briefing.foretell(ctx, messages, h.begin.Run, guess.connected, h.window))
	req := guess.request(system, prompt.NewHistory(messages, h.begin.Run))
	if tooLong(llm.Estimate(req), h.window) || !h.claim(&req) {
		return
	}
	h.answer, h.err = h.env.models.stream(ctx, h.at, req, func(d llm.Delta) error {
		select {
		case h.pieces <- d:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// claim notes what is about to be asked, unless the run does so itself already.
func (h *headStart) claim(req *llm.Request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken {
		return false
	}
	h.sent = req
	return true
}

// takeOver says that the run is about to send its first request, of a frame, and reports whether that was sent already; then
// follow has the answer. If not, nothing is left of what was asked.
func (h *headStart) takeOver(req llm.Request, of frame) bool {
	h.frames.learn(h.key, of)
	h.leave()
	h.mu.Lock()
	h.taken = true
	sent := h.sent
	h.mu.Unlock()
	same := sent != nil && reflect.DeepEqual(*sent, req)
	switch {
	case same:
		h.env.metrics.headStarts.WithLabelValues(headStartTaken).Inc()
	case sent != nil:
		h.env.metrics.headStarts.WithLabelValues(headStartWrong).Inc()
		h.cancel()
	}
	return same
}

// follow calls take for each piece of the answer, as the model's client does, and returns as that does.
func (h *headStart) follow(take func(llm.Delta) error) (llm.Answer, error) {
	var failed error
	for d := range h.pieces {
		if failed != nil {
			continue
		}
		if failed = take(d); failed != nil {
			h.cancel()
		}
	}
	if failed != nil {
		return h.answer, failed
	}
	return h.answer, h.err
}

// end cuts off what was asked, and waits for it.
func (h *headStart) end() {
	h.cancel()
	<-h.done
	h.leave()
}
