package refusal

import (
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Error is a request that was refused.
type Error struct {
	Reason Reason
	// Message is for people; it names what was wrong and what would be right.
	Message string
	// Err is the cause, where there is one; it stays on this side of the wire.
	Err error
}

// New returns an Error with a message for people. A final %w in the format wraps a cause.
func New(reason Reason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Reason: reason, Message: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string { return string(e.Reason) + ": " + e.Message }

// Is makes errors.Is(err, refusal.RunActive) true for every Error of that reason.
func (e *Error) Is(target error) bool {
	r, ok := target.(Reason)
	return ok && r == e.Reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// GRPCStatus makes an Error a gRPC error: its reason travels as google.rpc.ErrorInfo.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Reason.GRPCCode(), e.Message)
	with, err := st.WithDetails(&errdetails.ErrorInfo{Reason: string(e.Reason), Domain: errs.Domain})
	if err != nil { // only for codes.OK, which no reason has
		return st
	}
	return with
}

// FromGRPC returns the Error that a peer sent as a status, or err as it is where it is none of ours.
func FromGRPC(err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errs.Domain && Reason(info.GetReason()).Known() {
			return &Error{Reason: Reason(info.GetReason()), Message: st.Message(), Err: err}
		}
	}
	return err
}
