package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/tasks"
)

// maxWatched is how many tasks one stream may follow; the client is told of those that it does.
const maxWatched = 32

// taskWatch tells a stream what becomes of tasks, by asking as the client would.
type taskWatch struct {
	// Static after construction.
	api *API
	q   *query

	open map[string]*agentv1.Task // as they were told last, by id
}

// watchTasks returns the watch over those of a list of ids that the client may know.
func (a *API) watchTasks(q *query, list []byte) *taskWatch {
	w := &taskWatch{api: a, q: q, open: map[string]*agentv1.Task{}}
	if list == nil || a.Tasks == nil || list[0] != '[' {
		return w
	}
	jsonrpc.Elements(list, func(element []byte) {
		if len(w.open) >= maxWatched {
			return
		}
		if t, err := a.findTask(q.r.Context(), q, string(jsonrpc.Text(element))); err == nil {
			w.open[t.GetId()] = &agentv1.Task{Id: t.GetId()} // what it is now is news
		}
	})
	return w
}

// list is the ids as JSON.
func (w *taskWatch) list() string {
	ids := make([]string, 0, len(w.open))
	for id := range w.open {
		ids = append(ids, string(jsonrpc.AppendString(nil, id)))
	}
	slices.Sort(ids)
	return "[" + strings.Join(ids, ",") + "]"
}

// start tells of the tasks until all are over, or stop is called, which returns once nothing more is told.
func (w *taskWatch) start(ctx context.Context, meta []byte) (stop func()) {
	if len(w.open) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		for w.look(ctx, meta); len(w.open) > 0 && sleep.For(ctx, pollEvery); {
			w.look(ctx, meta)
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// look tells of the tasks that have changed.
func (w *taskWatch) look(ctx context.Context, meta []byte) {
	for id, before := range w.open {
		t, err := w.api.findTask(ctx, w.q, id)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errNoTask):
			delete(w.open, id)
			continue
		case err != nil: // it can be asked for soon
			continue
		}
		if t.GetStatus() != before.GetStatus() || t.GetMessage() != before.GetMessage() {
			w.q.out.event(notification("notifications/tasks", w.q.appendDetailed(append(slices.Clone(meta), ','), t)))
			w.open[id] = t
		}
		if t.GetStatus() != tasks.Working && t.GetStatus() != tasks.Input {
			delete(w.open, id)
		}
	}
}
