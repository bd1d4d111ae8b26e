package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

// maxTimeout is the longest that a client may let a call take.
const maxTimeout = time.Hour

// params are those of tools/call, as they stand in the request.
type params struct {
	name                    string
	arguments               []byte
	responses, requestState []byte
	timeout                 time.Duration // 0 where the client does not say
}

func readParams(m *wire.Message) (p params, err error) {
	jsonrpc.Members(m.Params, func(name, value []byte) {
		switch string(name) {
		case "name":
			p.name = string(jsonrpc.Text(value))
		case "arguments":
			p.arguments = value
		case "inputResponses":
			p.responses = value
		case "requestState":
			p.requestState = value
		}
	})
	if p.name == "" {
		return p, errors.New("name is required, a string that is not empty")
	}
	if jsonrpc.IsNull(p.arguments) {
		p.arguments = nil
	} else if !jsonrpc.IsObject(p.arguments) {
		return p, errors.New("arguments must be an object")
	}
	if raw := m.Meta.Member(MetaTimeout); raw != nil {
		var ms int64
		if json.Unmarshal(raw, &ms) != nil || ms < 1 || ms > maxTimeout.Milliseconds() {
			return p, fmt.Errorf("_meta[%s] must be a whole number from 1 to %d", MetaTimeout, maxTimeout.Milliseconds())
		}
		p.timeout = time.Duration(ms) * time.Millisecond
	}
	return p, nil
}

// call answers tools/call.
func (a *API) call(ctx context.Context, q *query) {
	p, err := readParams(q.msg)
	if err != nil {
		q.fail(wire.Invalid("Invalid params: " + err.Error()))
		return
	}
	view := a.catalogue.View(q.from)
	tool, ok, err := view.Find(ctx, p.name)
	switch {
	case err != nil:
		q.unanswered(err)
		return
	case !ok:
		q.fail(wire.Invalid(fmt.Sprintf("Unknown tool: %.128q", p.name)))
		return
	}
	state, err := q.state(&p)
	if err != nil {
		q.unanswered(err)
		return
	}
	ctx, closed := q.cancellable(ctx)
	defer closed()
	signs := q.signs()
	c := &catalogue.Call{
		Request: q.from, Arguments: p.arguments, Deadline: deadline(p, &tool), Traceparent: q.trace, Progress: signs.progress,
		Ask: q.asker(&p), State: state.Note,
	}
	var result catalogue.Result
	if q.tasked() {
		var detached bool
		if result, detached, err = q.detachable(&p, &tool, c).run(ctx, signs); detached {
			return
		}
	} else {
		result, err = tool.Run(ctx, c)
	}
	signs.stop()
	if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for an answer
		if err == nil && result.Release != nil {
			result.Release()
		}
		return
	}
	var asked *catalogue.Asked
	switch {
	case errors.As(err, &asked):
		result = q.question(&p, asked.Question)
	case err != nil:
		q.unanswered(err)
		return
	}
	q.result(result)
}

// deadline is when a call has to be over.
func deadline(p params, t *catalogue.Tool) time.Time {
	limit := router.DefaultTimeout
	if t.Timeout != nil {
		limit = t.Timeout(p.arguments)
	}
	if p.timeout > 0 {
		limit = p.timeout
	}
	return time.Now().Add(limit)
}

// cancellable returns a context that ends when the client cancels the request: in the older revisions by a message, which may come in
// at any pod; else by closing the stream, which ends ctx.
func (q *query) cancellable(ctx context.Context) (context.Context, func()) {
	if q.stateless() {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	leave := q.api.Relay.Open(q.session.Name, q.msg.ID, cancel)
	return ctx, func() {
		leave()
		cancel()
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Round(time.Second) / time.Second)) }
