package catalogue

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Tool is one tool under the name by which clients call it.
type Tool struct {
	Name string
	// Plain is its own name where it lives, which ?tools= may name, too. Empty where it is Name.
	Plain string
	// Node is the device that it belongs to; empty for a tool of Hecaton's own.
	Node ids.NodeID
	// Definition is the MCP tool object without its name: the members of a JSON object, without the braces. A tool that was only
	// found, to be called, has none.
	Definition []byte
	// ReadOnly says that the tool changes nothing, as its definition has it in `readOnlyHint`.
	ReadOnly bool
	// Always says that no filter hides it.
	Always bool
	// Timeout is how long a call with these arguments takes at most, where the caller does not say; nil stands for the default.
	Timeout func(arguments []byte) time.Duration
	// Run calls it. The error is an *[errs.Error], an *[Unanswered], a *[Asked], or one whose text is for the client.
	Run func(ctx context.Context, c *Call) (Result, error)
}

// Call is one call of a tool.
type Call struct {
	Request
	// Arguments are a JSON object; empty means {}.
	Arguments []byte
	// Deadline is absolute.
	Deadline    time.Time
	Traceparent string
	// State is that of the question with which the call was ended when it was made before; empty at first.
	State string
	// Progress is told what the tool says of its progress: the params of a notifications/progress. It must not block.
	Progress func(params []byte)
	// Ask asks the person at the client. The error is an *[Asked] where the call has to end with the question, and
	// [ErrCannotAsk] where the client has no way to ask.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Wait is told what the call waits for where its client cannot be asked, and before it goes on after that, with an empty message.
	// An error says that the client does not come back for the answer; the call must not go on then. Nil is for a client that waits.
	Wait func(ctx context.Context, message string) error
}

// Result is what a tool answered. Its parts are put together only when they are written.
type Result struct {
	// Members are pieces of JSON which together are the members of the result, but for `_meta` and `resultType`.
	Members [][]byte
	// Meta are the members of `_meta`, without the braces.
	Meta []byte
	// Type is the `resultType`; empty means complete.
	Type string
	// Release, if there is one, gives the memory of the pieces back.
	Release func()
}

// Source has tools of one kind. It is safe for concurrent use.
type Source interface {
	// Tools returns all that a user has now, in any order. Names are unique among all sources.
	Tools(ctx context.Context, r *Request) ([]Tool, error)
	// Find returns the tool of a name, also where it is away at present; ok is false where the name is none of the source's.
	Find(ctx context.Context, r *Request, name string) (t Tool, ok bool, err error)
}
