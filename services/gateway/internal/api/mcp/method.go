package mcp

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// era is a set of the two ways in which clients speak.
type era uint8

const (
	sessions era = 1 << iota // the revisions with initialize
	stateless
	both = sessions | stateless
)

func (x *exchange) era() era {
	if x.stateless() {
		return stateless
	}
	return sessions
}

// method is one that clients may call.
type method struct {
	eras era
	need auth.Need
	// serve answers the request by one of query's methods, or not at all where its client has cancelled it.
	serve func(ctx context.Context, q *query)
}

// core are the methods of a server that has tools.
func (a *API) core() map[string]method {
	return map[string]method{
		"ping":                 {sessions, auth.Anything, func(_ context.Context, q *query) { q.result(catalogue.Result{}) }},
		"server/discover":      {stateless, auth.Anything, a.discover},
		"tools/list":           {both, auth.ReadTools, a.list},
		"tools/call":           {both, auth.CallTools, a.call},
		"subscriptions/listen": {stateless, auth.ReadTools, a.listen},
	}
}

// query is one request.
type query struct {
	*exchange
	msg *wire.Message
	// trace is the traceparent of what is done for the request.
	trace string
	// problem is what measurements call an error; empty for none.
	problem string
	// said are the answers to questions that this request brought.
	said map[string]json.RawMessage
}

// fail answers with an error.
func (q *query) fail(e *wire.Error) {
	q.problem = strconv.Itoa(e.Code)
	q.failed(q.msg.ID, e)
}

// result answers with a result, and releases it.
func (q *query) result(r catalogue.Result) {
	pieces := q.frame(r)
	q.out.answer(200, pieces...)
	if r.Release != nil {
		r.Release()
	}
}

// frame returns the answer as pieces of one message.
func (q *query) frame(r catalogue.Result) [][]byte {
	head := append(append([]byte(`{"jsonrpc":"2.0","id":`), q.msg.ID...), `,"result":`...)
	return append(q.pieces(head, r), []byte("}"))
}

// object returns a result as pieces of a JSON object.
func (q *query) object(r catalogue.Result) [][]byte { return q.pieces(nil, r) }

// pieces are those of a result's object, after head.
func (q *query) pieces(head []byte, r catalogue.Result) [][]byte {
	head = append(head, '{')
	meta := r.Meta
	if q.stateless() {
		kind := r.Type
		if kind == "" {
			kind = "complete"
		}
		head = append(append(append(head, `"resultType":"`...), kind...), '"')
		info := append([]byte(`"`+wire.MetaServerInfo+`":`), q.api.server...)
		if len(meta) > 0 {
			info = append(append(info, ','), meta...)
		}
		meta = info
	}
	comma := q.stateless()
	if len(meta) > 0 {
		if comma {
			head = append(head, ',')
		}
		head = append(append(append(head, `"_meta":{`...), meta...), '}')
		comma = true
	}
	if comma && len(r.Members) > 0 {
		head = append(head, ',')
	}
	pieces := make([][]byte, 0, len(r.Members)+3)
	return append(append(append(pieces, head), r.Members...), []byte("}"))
}
