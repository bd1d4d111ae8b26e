package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/session"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// asker returns how a call asks its person. In the stateless revision the call ends with the question, and is made again with the
// answer; in a session the question goes down the call's stream, and the answer comes in as a POST, at any pod.
func (q *query) asker(p *params) func(context.Context, catalogue.Question) (catalogue.Answer, error) {
	if q.stateless() {
		return func(_ context.Context, question catalogue.Question) (catalogue.Answer, error) {
			return q.answered(p, question)
		}
	}
	return q.elicit
}

// answered returns the answer that a call brings, now or in its state, or the error that ends it with the question.
func (q *query) answered(p *params, question catalogue.Question) (catalogue.Answer, error) {
	if elicitation := wire.Member(q.msg.Meta.Capabilities, "elicitation"); !jsonrpc.IsObject(elicitation) {
		return catalogue.Answer{}, catalogue.ErrCannotAsk
	}
	st, err := q.state(p)
	if err != nil {
		return catalogue.Answer{}, err
	}
	if said, ok := st.Said[question.Key]; ok {
		return readAnswer(said), nil
	}
	response := wire.Member(p.responses, question.Key)
	if !jsonrpc.IsObject(response) || st.Key != question.Key {
		return catalogue.Answer{}, &catalogue.Asked{Question: question}
	}
	if len(response) <= maxSaid {
		if q.said == nil {
			q.said = map[string]json.RawMessage{}
		}
		q.said[question.Key] = response
	}
	return readAnswer(response), nil
}

// maxSaid bounds an answer that goes into the state of a call's next question, in bytes. A longer one is asked for again.
const maxSaid = 2 << 10

// state returns that of the call, as the client brings it; the zero State where it brings none. The error says that it is not of this
// call.
func (q *query) state(p *params) (st session.State, err error) {
	if !q.stateless() || p.requestState == nil {
		return st, nil
	}
	if st, err = q.api.sealer.OpenState(q.from.User, string(jsonrpc.Text(p.requestState)), p.name, p.arguments); err != nil {
		return st, errState
	}
	return st, nil
}

var errState = errors.New("requestState is not that of this call, or has expired")

func readAnswer(result []byte) catalogue.Answer {
	return catalogue.Answer{Action: jsonrpc.StringMember(result, "action"), Content: wire.Member(result, "content")}
}

// question is the result that asks.
func (q *query) question(p *params, question catalogue.Question) catalogue.Result {
	st, err := q.state(p)
	if err != nil {
		return failure(err)
	}
	said := map[string]json.RawMessage{}
	maps.Copy(said, st.Said)
	maps.Copy(said, q.said)
	state, err := q.api.sealer.SealState(q.from.User, session.State{
		Tool: p.name, Digest: session.Digest(p.arguments), Key: question.Key, Note: question.State, Said: said,
	})
	if err != nil {
		return failure(err)
	}
	b := append(appendQuestion([]byte(`"inputRequests":{`), question), `},"requestState":"`...)
	return catalogue.Result{Type: "input_required", Members: [][]byte{append(append(b, state...), '"')}}
}

// appendQuestion appends a question as a member of inputRequests.
func appendQuestion(b []byte, question catalogue.Question) []byte {
	b = append(jsonrpc.AppendString(b, question.Key), `:{"method":"elicitation/create","params":`...)
	return append(appendElicitation(b, question), '}')
}

// appendElicitation appends the params of an elicitation/create.
func appendElicitation(b []byte, question catalogue.Question) []byte {
	b = jsonrpc.AppendString(append(b, `{"mode":"form","message":`...), question.Message)
	return append(append(append(b, `,"requestedSchema":`...), question.Schema...), '}')
}

// elicit asks in a session.
func (q *query) elicit(ctx context.Context, question catalogue.Question) (catalogue.Answer, error) {
	if !q.session.Elicits || q.version == wire.V20250326 {
		return catalogue.Answer{}, catalogue.ErrCannotAsk
	}
	id := strconv.Quote("ask-" + strings.ToLower(rand.Text()))
	answers, leave := q.api.Relay.Await(ctx, q.session.Name, []byte(id))
	defer leave()
	b := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"method":"elicitation/create","params":`...)
	if q.version == wire.V20250618 { // has no modes
		b = jsonrpc.AppendString(append(b, `{"message":`...), question.Message)
		b = append(append(append(b, `,"requestedSchema":`...), question.Schema...), '}')
	} else {
		b = appendElicitation(b, question)
	}
	q.out.event(append(b, '}'))
	select {
	case result := <-answers:
		if result == nil { // an error, or a client that cannot after all
			return catalogue.Answer{}, catalogue.ErrCannotAsk
		}
		return readAnswer(result), nil
	case <-ctx.Done():
		return catalogue.Answer{}, ctx.Err()
	}
}
