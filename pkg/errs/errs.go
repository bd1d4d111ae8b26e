package errs

import (
	"errors"
	"fmt"
	"strings"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Error is a call that was not answered, or a request that was refused.
type Error struct {
	Reason Reason
	// Message is for people; it names what was wrong and what would be right.
	Message string
	// Nodes are what to choose from, with [RequiresSelection].
	Nodes []*nodev1.Node
	// Limit is the limit that the user has reached, with [RateLimited], [RunsLimited] and [StorageFull].
	Limit *LimitMet
	// At is where in a text that was sent the fault is; nil where that means nothing.
	At *Place
	// Err is the cause, if there is one. It is never sent to a peer, since it may name addresses.
	Err error

	local bool // whether Err says more than Message: it was not made from what a peer sent
}

// causeSuffix ends a format that wraps a cause.
const causeSuffix = ": %w"

// New returns an Error with a message for people. A format that ends with ": %w" wraps a cause, which is not part of the
// message.
func New(reason Reason, format string, args ...any) *Error {
	e := &Error{Reason: reason}
	if said, ok := strings.CutSuffix(format, causeSuffix); ok && len(args) > 0 {
		last := len(args) - 1
		e.Err, _ = args[last].(error)
		e.local = e.Err != nil
		format, args = said, args[:last]
	}
	e.Message = fmt.Sprintf(format, args...)
	return e
}

// Error is for logs of this process: it includes the cause.
func (e *Error) Error() string {
	said := string(e.Reason)
	if e.Message != "" {
		said += ": " + e.Message
	}
	if e.local {
		said += ": " + e.Err.Error()
	}
	return said
}

// Is makes errors.Is(err, errs.NodeBusy) true for every Error of that reason.
func (e *Error) Is(target error) bool {
	r, ok := target.(Reason)
	return ok && r == e.Reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Class returns what the caller may assume.
func (e *Error) Class() Class { return e.Reason.Class() }

// Retryable reports whether err says that the node never saw the call.
func Retryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class() == NotDelivered
}

// Cause returns what a log says of err, which callers are not told: the cause of an [Error] that has one, else err.
func Cause(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err
	}
	return err
}
