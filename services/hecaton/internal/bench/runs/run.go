package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/calls"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/sse"
)

const (
	// maxEvent bounds one event.
	maxEvent = 1 << 20
	// silence is how long a stream may say nothing; gateways send a comment every 15 s.
	silence = 40 * time.Second
	// maxPause bounds the pause before a request is repeated.
	maxPause = 2 * time.Second
)

// NotReached is the outcome of steps after the one at which a run stopped: a call was not answered, or the tool was not
// offered.
const NotReached = "not_reached"

// run is one run. It is for one goroutine.
type run struct {
	*Load
	n             int64
	what          plan.Run
	user, session string
	begin         time.Time

	seq     int64 // of the last event
	waiting event // the interrupt, where it is one
	finish  string
	said    string          // by the model, at the end
	results map[string]bool // by call
	ended   int             // steps that have
	steps   map[string]int  // by outcome
	refused int
	resumed int
}

// follow begins the run and returns how it finished.
func (r *run) follow(ctx context.Context, invoke map[string]any) (finish string, err error) {
	err = r.stream(ctx, request{path: "/api/agent/invoke", body: invoke, header: map[string]string{"Idempotency-Key": r.session}})
	for err == nil && r.finish == "interrupt" {
		err = r.stream(ctx, request{path: "/api/agent/resume", body: decision(r.session, r.waiting)})
	}
	return r.finish, err
}

// request is what begins a stream: an invoke or a resume.
type request struct {
	path   string
	body   map[string]any
	header map[string]string
}

// stream sends a request and reads the events to the next complete, over as many connections as that takes.
func (r *run) stream(ctx context.Context, begin request) error {
	r.finish, r.waiting = "", event{}
	before, begun := r.seq, false
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, maxPause) {
		body, err := r.open(ctx, begin, begun)
		if err == nil {
			err = r.read(body)
			begun = begun || r.seq > before
			if err == nil {
				return nil
			}
			r.resumed++
			wait = 50 * time.Millisecond
		} else if !begun && before > 0 && taken(err) {
			begun = true // it was heard, only its answer was lost
			continue
		} else if !passing(err) {
			return err
		} else {
			r.refused++
		}
		if !sleep.For(ctx, wait/2+rand.N(wait/2)) {
			return fmt.Errorf("it is not over after %v: %w", time.Since(r.begin).Round(time.Second), err)
		}
	}
}

// open asks for the stream: by the request that begins it as long as nothing of it was heard, then for its rest.
func (r *run) open(ctx context.Context, begin request, begun bool) (io.ReadCloser, error) {
	if !begun {
		return r.client.ask(ctx, http.MethodPost, begin.path, r.user, begin.body, begin.header)
	}
	return r.client.ask(ctx, http.MethodGet, "/api/agent/sessions/"+r.session+"/events", r.user, nil,
		map[string]string{"Last-Event-ID": strconv.FormatInt(r.seq, 10)})
}

// read reads one connection; nil where a complete has come.
func (r *run) read(body io.ReadCloser) error {
	body = sse.CloseWhenSilent(body, silence)
	defer body.Close()
	events := sse.NewReader(body, maxEvent)
	for {
		raw, err := events.Next()
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(raw.Data, &e); err != nil {
			r.wrong("an event cannot be read: %v", err)
			continue
		}
		if r.hear(e) {
			return nil
		}
	}
}

func (r *run) wrong(format string, args ...any) {
	r.problem(r.n, format, args...)
}

// hear takes an event and reports whether the stream is over.
func (r *run) hear(e event) (complete bool) {
	if e.Seq != r.seq+1 {
		r.wrong("event %d (%s) comes after %d", e.Seq, e.Type, r.seq)
	}
	r.seq = max(r.seq, e.Seq)
	switch e.Type {
	case "tool_call_result":
		r.result(e)
	case "interrupt":
		r.waiting = e
	case "error":
		r.said = e.ErrorCode
	case "complete":
		r.finish = e.FinishReason
		_ = json.Unmarshal(e.Content, &r.said) // what is no text says nothing
		return true
	}
	return false
}

// result takes the result of the next step.
func (r *run) result(e event) {
	if e.ToolName != Tool && e.ToolName != "" {
		r.wrong("it called %s", e.ToolName)
		return
	}
	if r.results[e.ToolCallID] {
		r.wrong("its call %s has a second result", e.ToolCallID)
		return
	}
	r.results[e.ToolCallID] = true
	i := r.ended
	if r.ended++; i >= len(r.what.Steps) {
		r.wrong("it has more results than the %d calls that it was asked for", len(r.what.Steps))
		return
	}
	n, class := Number(r.n, i), ledger.NotDelivered
	switch e.Outcome {
	case "":
		class = ledger.Answered
	case "unknown":
		class = ledger.Unknown
	}
	r.steps[class.String()]++
	own := e.Result == calls.Answer(r.o.Plan, n, r.what.Steps[i].Answer)
	r.o.Ledger.End(n, class, own, r.o.Recorder.PartOf(r.begin, time.Now()))
}

// end notes how the run ended.
func (r *run) end(finish string, err error) {
	now := time.Now()
	switch {
	case err != nil && errors.Is(err, context.DeadlineExceeded):
		r.wrong("it did not come to an end: %v", err)
	case err != nil:
		r.wrong("it was refused for good: %v", err)
	case finish != "stop":
		r.wrong("it finished with %q: %.300s", finish, r.said)
	}
	part := r.o.Recorder.PartOf(r.begin, now)
	for i := r.ended; i < len(r.what.Steps); i++ {
		if err == nil { // the run is over: what it did not get to must not have run
			r.o.Ledger.End(Number(r.n, i), ledger.NotDelivered, false, part)
			r.steps[NotReached]++
		}
	}
	if err == nil && r.ended == r.steps[ledger.Answered.String()] && r.ended < len(r.what.Steps) {
		r.remark(r.n, "it stopped after %d of %d calls: %.300s", r.ended, len(r.what.Steps), r.said)
	}
	if finish == "" || err != nil {
		finish = "unfinished"
	}
	r.o.Recorder.Run(timeline.Run{
		From: r.begin, To: now, Finish: finish, Refused: r.refused, Resumed: r.resumed, Steps: r.steps,
	})
}
