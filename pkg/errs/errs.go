package errs

import (
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/quota"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Error is a call that was not answered.
type Error struct {
	Reason Reason
	// Message is for people; it names what was wrong and what would be right.
	Message string
	// Nodes are what to choose from, with [RequiresSelection].
	Nodes []*nodev1.Node
	// Limit is which limit of the user was met, with [RateLimited].
	Limit *quota.Met
	// Err is the cause, where there is one; it stays on this side of the wire.
	Err error
}

// New returns an Error with a message for people. A final %w in the format wraps a cause.
func New(reason Reason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Reason: reason, Message: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Message
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
