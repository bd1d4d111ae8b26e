package agentapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// Comments with which a stream ends before its run does.
const (
	byeDraining = ": this gateway is going away, come back with Last-Event-ID\n\n"
	byeLost     = ": the rest of the events cannot be had right now, come back with Last-Event-ID\n\n"
	byeExpired  = ": the token has expired, come back with a new one and Last-Event-ID\n\n"
)

// lastID says once more with which number to come back, in a block that is no event.
func lastID(seq int64) string {
	if seq == 0 {
		return ""
	}
	return "id: " + strconv.FormatInt(seq, 10) + "\n"
}

// dialectOf reads ?dialect=.
func dialectOf(r *http.Request) (*dialect, error) {
	switch r.URL.Query().Get("dialect") {
	case "":
		return standard, nil
	case "reference":
		return reference, nil
	}
	return nil, &edge.BadRequest{Message: "dialect must be reference, or left out"}
}

// stream answers with the events of f. endsRun says that the run is cancelled when its client leaves. The error is a refusal: nothing is
// written yet.
func (a *API) stream(
	ctx context.Context, w http.ResponseWriter, r *http.Request, user ids.UserID, f *feed, endsRun bool,
) error {
	names, err := dialectOf(r)
	if err != nil {
		return err
	}
	place, err := a.cfg.Limits.Stream(ctx, user)
	if err != nil {
		return err
	}
	defer place.Leave()
	ctx, cancel := context.WithCancel(auth.OnBehalf(ctx, user))
	defer cancel()
	var left func()
	f.leave, left = a.cfg.Streams.Enter(endsRun)
	defer left()
	if err := f.open(ctx); err != nil {
		return err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		f.run(ctx, cancel)
	}()
	if !a.write(ctx, newWriter(w), f, names) {
		cancel()
	}
	<-fed
	if endsRun && f.moved && !f.over && f.session != "" {
		a.cancelRun(ctx, f.session)
	}
	return nil
}

// write returns true when the feed has ended, and false when the client has left or the pod drains.
func (a *API) write(ctx context.Context, w *writer, f *feed, names *dialect) (ended bool) {
	if w.begin() != nil {
		return false
	}
	beat := time.NewTicker(a.cfg.Heartbeat)
	defer beat.Stop()
	var over <-chan time.Time
	if !f.ends.IsZero() {
		timer := time.NewTimer(time.Until(f.ends))
		defer timer.Stop()
		over = timer.C
	}
	var buf []byte
	for {
		buf = buf[:0]
		select {
		case e, ok := <-f.events:
			if buf, ok = f.gather(buf, e, ok, names); !ok {
				if !f.over {
					buf = append(buf, byeLost...)
				}
				_ = w.send(buf) // the client may be gone: that is how a feed ends, too
				return true
			}
			beat.Reset(a.cfg.Heartbeat)
		case <-beat.C:
			buf = append(buf, heartbeat...)
		case <-f.leave:
			_ = w.send([]byte(byeDraining)) // the stream ends either way
			return false
		case <-over:
			_ = w.send([]byte(lastID(f.sent) + byeExpired))
			return false
		case <-ctx.Done():
			return false
		}
		if w.send(buf) != nil {
			return false
		}
		if cap(buf) > 2*piece { // a picture: do not keep its room for the tokens that follow
			buf = nil
		}
	}
}

// gather encodes an event and those that wait behind it, so that they leave at once; ok is false when the feed has
// ended.
func (f *feed) gather(buf []byte, e *agentv1.Event, ok bool, names *dialect) ([]byte, bool) {
	for ok {
		buf = appendEvent(buf, e, names)
		f.sent = e.GetSeq()
		if len(buf) > piece {
			return buf, true
		}
		select {
		case e, ok = <-f.events:
		default:
			return buf, true
		}
	}
	return buf, false
}

// cancelRun does what the lost orchestrator would have done: the one that took over does not know that the client left.
func (a *API) cancelRun(ctx context.Context, session string) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	again := patience{limit: limit}
	for {
		_, err := a.agent.CancelRun(ctx, &agentv1.CancelRunRequest{SessionId: session})
		if err == nil || refused(err) {
			return
		}
		if !again.wait(ctx) {
			a.log.WarnContext(ctx, "run of a client that left was not cancelled", "code", status.Code(err))
			return
		}
	}
}
