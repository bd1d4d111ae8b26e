package node

import (
	"errors"
	"fmt"

	"github.com/coder/websocket"
)

// Errors that another attempt to connect cannot change. Run returns an error that wraps one of them.
var (
	// ErrMissingID: the gateway found no user id in the connection's parameters (close code 4001).
	ErrMissingID = errors.New("the gateway found no user id")
	// ErrNotAllowed: the token or the ids were refused (close code 4003, HTTP 401 and 403).
	ErrNotAllowed = errors.New("the gateway does not allow this node")
	// ErrTooManyNodes: the user has as many nodes as one may have, and that stayed so over several attempts (4009).
	ErrTooManyNodes = errors.New("the user has too many nodes connected")
	// ErrSuperseded: another connection registered under this node's id; coming back would supersede it in turn (4409).
	ErrSuperseded = errors.New("another connection has taken this node's id")
)

// ErrRan is returned by the second Run of a node.
var ErrRan = errors.New("the node has been run already; make a new one")

// ErrConnectionLost is the cause ([context.Cause]) of the end of a call whose connection was lost a minute ago; its caller
// was told then that the outcome is unknown.
var ErrConnectionLost = errors.New("the connection of the call was lost")

// errAbandoned: the node gave up an attempt that was not answered in time. A busy gateway may take that connection for a
// new one nevertheless, and close the one that the node makes instead.
var errAbandoned = errors.New("not answered in time")

// errTokenOver: the gateway closed the connection because the node's token has expired. The next attempt asks Token for a
// new one.
var errTokenOver = errors.New("the token has expired")

// The close codes of docs/protocols/zeus-nodes.md#close-codes that a node acts on.
const (
	closeMissingID    = 4001
	closeNotAllowed   = 4003
	closeTooManyNodes = 4009
	closeSuperseded   = 4409
)

// ClosedError says with which code and reason the gateway closed a connection.
type ClosedError struct {
	Code   int
	Reason string
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("the gateway closed the connection with %d %q", e.Code, e.Reason)
}

// Unwrap returns the error that the code stands for, nil where the code is only a reason to connect again.
func (e *ClosedError) Unwrap() error {
	switch e.Code {
	case closeMissingID:
		return ErrMissingID
	case closeNotAllowed:
		return ErrNotAllowed
	case closeTooManyNodes:
		return ErrTooManyNodes
	case closeSuperseded:
		return ErrSuperseded
	}
	return nil
}

// RefusedError says that the gateway answered the handshake with an HTTP status other than 101.
type RefusedError struct {
	Status int
	// Body is the beginning of the answer.
	Body string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the gateway refused the connection with HTTP %d: %s", e.Status, e.Body)
}

// Unwrap returns [ErrNotAllowed] for the statuses that mean it. Others, 404 too, may be those of a proxy whose gateways
// are being replaced, and are tried again.
func (e *RefusedError) Unwrap() error {
	if e.Status == 401 || e.Status == 403 {
		return ErrNotAllowed
	}
	return nil
}

// RegisterError says that the gateway answered register with success false.
type RegisterError struct{ Reason string }

func (e *RegisterError) Error() string {
	return "the gateway did not register the node: " + e.Reason
}

// CancelledError is the cause ([context.Cause]) of a call's end where its caller cancelled it.
type CancelledError struct{ Reason string }

func (e *CancelledError) Error() string {
	if e.Reason == "" {
		return "cancelled by the caller"
	}
	return "cancelled by the caller: " + e.Reason
}

// ParamsError makes an answer -32602: the call's params are not what the tool takes.
type ParamsError struct{ Problem string }

func (e *ParamsError) Error() string { return e.Problem }

// InvalidParams returns a *[ParamsError]. Say what was wrong and what would be right.
func InvalidParams(format string, args ...any) error {
	return &ParamsError{Problem: fmt.Sprintf(format, args...)}
}

// permanent reports whether connecting again cannot help. Too many nodes may be fewer in a moment: that is counted
// apart.
func permanent(err error) bool {
	var register *RegisterError
	return errors.Is(err, ErrMissingID) || errors.Is(err, ErrNotAllowed) || errors.Is(err, ErrSuperseded) ||
		errors.As(err, &register)
}

// connectionError turns what reading returned into an error of this package where it is one.
func connectionError(err error) error {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return &ClosedError{Code: int(closed.Code), Reason: closed.Reason}
	}
	return err
}
