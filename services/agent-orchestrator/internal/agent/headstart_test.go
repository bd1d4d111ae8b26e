package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// steady has two runs begin, after which the next one's tools can be guessed.
func steady(p *pod) {
	p.w.t.Helper()
	for range 2 {
		p.w.model.When(modeltest.Mentions("warm up"), modeltest.Say("warm"))
		p.ended(p.say("warm up"))
	}
}

// asked waits until the model was asked so often.
func (w *fixture) asked(n int) {
	w.t.Helper()
	testkit.Eventually(w.t, soon, func() bool { return len(w.model.Requests()) >= n }, "the model is asked")
}

// hold has the next beginnings wait, and then end as the function that it returns says.
func (p *pod) hold() (release func(error)) {
	ends := make(chan error)
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	ctx := p.w.t.Context()
	p.faults.begins = func(store.Begin) error {
		select {
		case err := <-ends:
			return err
		case <-ctx.Done(): // a test that has failed lets go
			return ctx.Err()
		}
	}
	return func(err error) {
		p.faults.mu.Lock()
		p.faults.begins = nil
		p.faults.mu.Unlock()
		ends <- err
	}
}

// beginning is an Invoke that goes on while its beginning is held.
type beginning struct {
	agent.Started
	err error
}

func (p *pod) begin(ctx context.Context, req *agentv1.InvokeRequest) <-chan beginning {
	done := make(chan beginning, 1)
	go func() {
		s, err := p.Invoke(ctx, user, req)
		done <- beginning{s, err}
	}()
	return done
}

// begun waits for it.
func (p *pod) begun(b <-chan beginning) agent.Started {
	p.w.t.Helper()
	got := <-b
	if got.err != nil {
		p.w.t.Fatal(got.err)
	}
	return got.Started
}

// The model answers before the run's beginning is stored, and with a call: nothing of it is stored, shown or run before that,
// and the model is not asked again.
func TestModelIsAskedWhileTheRunBegins(t *testing.T) {
	t.Parallel()
	look := newDevice("look")
	w := newFixture(t, look)
	p := w.pod()
	steady(p)
	answered := make(chan struct{})
	w.model.Script(modeltest.Say("first").Wait(answered).Then(modeltest.Call("look", nil)), modeltest.Say("done"))
	release := p.hold()
	beginning := p.begin(t.Context(), &agentv1.InvokeRequest{Message: "go", SessionId: "s"})
	w.asked(3)
	close(answered)
	if _, err := p.store.Session(t.Context(), store.Ref{User: user, Session: "s"}); !errors.Is(err, errs.SessionNotFound) {
		t.Errorf("the session is there before the run has begun: %v", err)
	}
	if n := len(look.seen()); n != 0 {
		t.Errorf("%d calls ran before the run has begun", n)
	}
	release(nil)
	got := p.ended(p.begun(beginning))
	if got.kinds() != "text tool_call_chunk tool_call token_usage tool_call_result text token_usage complete" &&
		got.kinds() != "text tool_call token_usage tool_call_result text token_usage complete" || got.text() != "firstdone" {
		t.Errorf("%s: %q", got.kinds(), got.text())
	}
	if n := len(w.model.Requests()); n != 4 || len(look.seen()) != 1 {
		t.Errorf("the model was asked %d times, want 4; %d calls", n, len(look.seen()))
	}
}

// A run that cannot begin although its model answers already: the question is cut off, and nothing is left of it.
func TestRunCannotBeginWhileItsModelAnswers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.pod()
	steady(p)
	w.model.Script(modeltest.Say("a word").Wait(nil)) // until the client leaves
	release := p.hold()
	refused := p.begin(t.Context(), &agentv1.InvokeRequest{Message: "go", SessionId: "s"})
	w.asked(3)
	release(errs.New(errs.AgentUnavailable, "the disk is full"))
	wantReason(t, (<-refused).err, errs.AgentUnavailable)
	if _, err := p.store.Session(t.Context(), store.Ref{User: user, Session: "s"}); !errors.Is(err, errs.SessionNotFound) {
		t.Errorf("there is a session: %v", err)
	}
	w.model.Script(modeltest.Say("again"))
	if got := p.ended(p.invoke(&agentv1.InvokeRequest{Message: "go", SessionId: "s"})); got.text() != "again" {
		t.Errorf("the next run says %q", got.text())
	}
}

// The tools have changed since the run before: what the model said to the guess is never shown, and it is asked with the tools
// that there are.
func TestWrongGuessIsNeverShown(t *testing.T) {
	t.Parallel()
	w := newFixture(t, echo("old"))
	p := w.pod()
	steady(p)
	w.tools = []tool.Tool{echo("new")}
	w.model.When(func(r modeltest.Request) bool { return slices.Contains(r.Tools, "old") }, modeltest.Say("what the old tool allows"))
	w.model.When(func(r modeltest.Request) bool { return slices.Contains(r.Tools, "new") }, modeltest.Say("right"))
	release := p.hold()
	beginning := p.begin(t.Context(), &agentv1.InvokeRequest{Message: "go"})
	w.asked(3)
	release(nil)
	if got := p.ended(p.begun(beginning)); got.heard() != "right" || got.finish() != "stop" {
		t.Errorf("the user reads %q", got.heard())
	}
}

// talkative is a source that says something else each time.
type talkative struct{ n atomic.Int64 }

func (c *talkative) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	return tool.Listing{Remarks: []tool.Remark{{Kind: "time", Text: fmt.Sprint(c.n.Add(1))}}}, nil
}

// Where the prompt is another one each time, or the run has begun before, or cannot begin, the model is asked nothing that it
// would not be asked otherwise.
func TestNoGuessThatIsLikelyToBeWrong(t *testing.T) {
	t.Parallel()
	t.Run("a prompt that changes", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.sources = append(w.sources, new(talkative))
		w.model.Otherwise(modeltest.Say("yes"))
		p := w.pod()
		for range 5 {
			p.ended(p.say("go"))
		}
		if n := len(w.model.Requests()); n != 5 {
			t.Errorf("the model was asked %d times by 5 runs", n)
		}
	})
	t.Run("the same request again", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		p := w.pod()
		steady(p)
		w.model.Otherwise(modeltest.Say("yes"))
		again := &agentv1.InvokeRequest{Message: "go", SessionId: "s", IdempotencyKey: "k"}
		first := p.invoke(again)
		p.ended(first)
		if second := p.invoke(again); second.Run != first.Run || !second.Before {
			t.Errorf("another run began: %+v, %+v", first, second)
		}
		if n := len(w.model.Requests()); n != 3 {
			t.Errorf("the model was asked %d times by 3 runs", n)
		}
	})
	t.Run("as many runs as allowed", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.config.RunsPerUser = 2
		p, other := w.pod(), w.pod()
		steady(p)
		over := make(chan struct{})
		w.model.Script(modeltest.Repeat(2, modeltest.Say().Wait(over))...)
		first, second := other.say("go"), other.say("go")
		w.asked(4)
		for range 3 {
			_, err := p.Invoke(t.Context(), user, &agentv1.InvokeRequest{Message: "one more"})
			wantReason(t, err, errs.RunsLimited)
		}
		close(over)
		other.ended(first)
		other.ended(second)
		if n := len(w.model.Requests()); n != 4 {
			t.Errorf("the model was asked %d times by 4 runs", n)
		}
	})
}

// A conversation that goes on is guessed whole, with what was said before.
func TestHeadStartOfALaterMessage(t *testing.T) {
	t.Parallel()
	w := newFixture(t, echo("look"))
	p := w.pod()
	steady(p)
	w.model.Script(modeltest.Call("look", nil), modeltest.Say("one"), modeltest.Say("two"))
	s := p.say("the first")
	p.ended(s)
	before := len(w.model.Requests())
	release := p.hold()
	beginning := p.begin(t.Context(), &agentv1.InvokeRequest{Message: "the second", SessionId: string(s.Session)})
	w.asked(before + 1)
	release(nil)
	if got := p.ended(p.begun(beginning)); got.text() != "two" {
		t.Errorf("the model says %q", got.text())
	}
	asked := w.model.Requests()[before:]
	if len(asked) != 1 || !modeltest.Mentions("the first")(asked[0]) || !modeltest.Mentions("look{}")(asked[0]) {
		t.Errorf("%d requests, the first %+v", len(asked), asked[0].Messages)
	}
}

// A pod that stops while a run is beginning waits for the question.
func TestPodStopsDuringAHeadStart(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.pod()
	steady(p)
	w.model.Script(modeltest.Say("a word").Wait(nil))
	release := p.hold()
	refused := p.begin(context.WithoutCancel(t.Context()), &agentv1.InvokeRequest{Message: "go", SessionId: "s"})
	w.asked(3)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = p.Stop(context.WithoutCancel(t.Context()))
	}()
	select {
	case <-stopped:
		t.Error("the pod has stopped while a run is beginning")
	case <-time.After(50 * time.Millisecond):
	}
	release(errs.New(errs.AgentUnavailable, "no"))
	wantReason(t, (<-refused).err, errs.AgentUnavailable)
	<-stopped
}

// Of runs that begin in the same moment only some have a head start; the others ask once they have begun, and each asks once.
func TestFewHeadStartsAtOneTime(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.pod()
	steady(p)
	held, release := make(chan struct{}), make(chan struct{})
	p.faults.mu.Lock()
	p.faults.begins = func(store.Begin) error {
		held <- struct{}{}
		<-release
		return nil
	}
	p.faults.mu.Unlock()
	var beginnings []<-chan beginning
	begin := func(n int) {
		for range n {
			w.model.When(modeltest.Mentions("go"), modeltest.Say("gone"))
			session := fmt.Sprintf("s%d", len(beginnings))
			beginnings = append(beginnings, p.begin(t.Context(), &agentv1.InvokeRequest{Message: "go", SessionId: session}))
			<-held
		}
	}
	begin(agent.MaxHeadStarts)
	w.asked(2 + agent.MaxHeadStarts)
	begin(8)
	<-time.After(100 * time.Millisecond) // for those that should not ask
	if n := len(w.model.Requests()); n != 2+agent.MaxHeadStarts {
		t.Errorf("the model was asked %d times before the runs have begun, want %d", n-2, agent.MaxHeadStarts)
	}
	close(release)
	for _, b := range beginnings {
		if got := p.ended(p.begun(b)); got.text() != "gone" {
			t.Errorf("the model says %q", got.text())
		}
	}
	if n := len(w.model.Requests()); n != 2+len(beginnings) {
		t.Errorf("the model was asked %d times, want %d", n-2, len(beginnings))
	}
	begin(1) // places were given back
	w.asked(2 + len(beginnings))
	p.ended(p.begun(beginnings[len(beginnings)-1]))
}
