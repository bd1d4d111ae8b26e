package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Kind is how a server failed.
type Kind string

// The kinds.
const (
	Refused      Kind = "refused"      // the address or transport is not allowed here
	Unauthorized Kind = "unauthorized" // the server does not take the key
	Unreachable  Kind = "unreachable"  // no server answers at the address
	TimedOut     Kind = "timeout"      // no answer came in time
	Protocol     Kind = "protocol"     // the server does not speak MCP, or refuses the request
	TooMuch      Kind = "too much"     // the server sends more than is allowed
)

// Error says why a server could not be connected to, or did not list its tools.
type Error struct {
	Kind Kind
	// Message is for the user whose server it is.
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func kind(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Protocol
}

// explain turns an error of connecting to a server or listing its tools into an Error.
func explain(ctx context.Context, f *flight, err error) error {
	status, _ := f.seen()
	var refused *errs.Error
	var rpc *jsonrpc.Error
	var start *startError
	switch {
	case errors.As(err, &refused):
		return &Error{Kind: Refused, Message: refused.Message, Err: err}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &Error{Kind: Unauthorized, Message: fmt.Sprintf("it does not take the key (HTTP status %d)", status), Err: err}
	case context.Cause(ctx) != nil:
		return &Error{Kind: TimedOut, Message: "it did not answer in time", Err: err}
	case f.overflowed():
		return &Error{Kind: TooMuch, Message: "it sends more than is allowed", Err: err}
	case status >= 300:
		return &Error{Kind: Protocol, Message: fmt.Sprintf("it answers with HTTP status %d", status), Err: err}
	case status == 0 && f.http:
		return &Error{Kind: Unreachable, Message: "it cannot be reached", Err: err}
	case errors.As(err, &rpc):
		return &Error{Kind: Protocol, Message: fmt.Sprintf("it answers with error %d: %s", rpc.Code, short(rpc.Message)), Err: err}
	case errors.As(err, &start):
		return &Error{Kind: Unreachable, Message: "its command cannot be started", Err: err}
	case !f.http:
		return &Error{Kind: Protocol, Message: "the process ended, or speaks no MCP", Err: err}
	}
	return &Error{Kind: Protocol, Message: "it speaks no MCP", Err: err}
}

// short bounds what a server says of an error.
func short(s string) string {
	const most = 1024
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
