package chat

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
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/sse"
)

const (
	// maxEvent bounds one event: a result may carry several images of 10 MiB, in base64.
	maxEvent = 128 << 20
	// silence is how long a stream may say nothing; gateways send a comment every 15 s.
	silence = 45 * time.Second
	// patience is how long a lost stream is looked for.
	patience = time.Minute
)

// stream follows one run to its end over as many connections as that takes.
type stream struct {
	client  *Client
	open    request // what began it
	session string  // "" until it is known
	last    int64   // the number of the last event
	begun   bool    // an event of what open began has come
	// lost and back are called when a connection breaks, and when another one continues the stream.
	lost func(error)
	back func()
}

// follow calls each for every event until the run is complete or waits. The error is a *Refused of the request that began
// it, a *Lost, or the error of each.
func (s *stream) follow(ctx context.Context, each func(event) error) error {
	body, err := s.client.send(ctx, s.open)
	if err != nil {
		return err
	}
	for {
		err := s.read(body, each)
		var gone *broken
		if !errors.As(err, &gone) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.lost(gone.err)
		if body, err = s.reconnect(ctx); err != nil {
			return err
		}
		s.back()
	}
}

// Lost is a stream that could not be picked up again; its run may go on.
type Lost struct {
	Session string
	Err     error
}

func (e *Lost) Error() string {
	return fmt.Sprintf("the stream is lost: no gateway could continue it for %v: %v", patience, e.Err)
}

// Unwrap returns what the last attempt failed with.
func (e *Lost) Unwrap() error { return e.Err }

// broken is the end of a connection before the end of the run.
type broken struct{ err error }

func (e *broken) Error() string { return e.err.Error() }

// reconnect asks for what follows the last event until a gateway has it.
func (s *stream) reconnect(ctx context.Context) (io.ReadCloser, error) {
	deadline := time.Now().Add(patience)
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		body, err := s.client.send(ctx, s.again())
		switch {
		case err == nil:
			return body, nil
		case !s.begun && s.last > 0 && taken(err):
			s.begun = true // what began it was heard, only its answer was not
			continue
		case !passing(err):
			return nil, err
		case time.Now().After(deadline):
			return nil, &Lost{Session: s.session, Err: err}
		}
		if !sleep.For(ctx, wait/2+rand.N(wait/2)) {
			return nil, ctx.Err()
		}
	}
}

// again returns the request for the rest of the stream; if no event has arrived, that is the request that began it. An
// invoke has an idempotency key, so sending it several times begins one run.
func (s *stream) again() request {
	if !s.begun {
		return s.open
	}
	return request{
		method: http.MethodGet, path: sessionPath(s.session) + "/events",
		header: map[string]string{"Last-Event-ID": strconv.FormatInt(s.last, 10)},
	}
}

// taken reports whether a decision that is sent again had been taken the first time.
func taken(err error) bool {
	var refused *Refused
	if !errors.As(err, &refused) {
		return false
	}
	return refused.Reason == "ALREADY_DECIDED" || refused.Reason == "RUN_ACTIVE" || refused.Reason == "NOT_INTERRUPTED"
}

// read reads one connection. Its error is a *broken, each's, or nil where the run is complete.
func (s *stream) read(body io.ReadCloser, each func(event) error) error {
	body = sse.CloseWhenSilent(body, silence)
	defer body.Close()
	events := sse.NewReader(body, maxEvent)
	for {
		raw, err := events.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the stream has ended before the run")
			}
			return &broken{err}
		}
		var e event
		if err := json.Unmarshal(raw.Data, &e); err != nil {
			return fmt.Errorf("an event cannot be read: %w", err)
		}
		if e.Seq <= s.last && e.Seq != 0 {
			continue
		}
		s.last, s.begun = e.Seq, true
		if e.SessionID != "" {
			s.session = e.SessionID
		}
		if err := each(e); err != nil {
			return err
		}
		if e.Type == "complete" {
			return nil
		}
	}
}
