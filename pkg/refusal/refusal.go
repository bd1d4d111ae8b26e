package refusal

import (
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/quota"
)

// Error is a request that was refused.
type Error struct {
	Reason Reason
	// Message is for people; it names what was wrong and what would be right.
	Message string
	// Limit is which limit of the user was met, with [RunsLimited] and [StorageFull].
	Limit *quota.Met
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

// GRPCStatus makes an Error a gRPC error: its reason travels as google.rpc.ErrorInfo, when to ask again as
// google.rpc.RetryInfo.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Reason.GRPCCode(), e.Message)
	info := &errdetails.ErrorInfo{Reason: string(e.Reason), Domain: errs.Domain}
	details := []protoadapt.MessageV1{info}
	if e.Limit != nil {
		info.Metadata = map[string]string{}
		e.Limit.Describe(info.Metadata)
		details = append(details, e.Limit.RetryInfo())
	}
	with, err := st.WithDetails(details...)
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
	var e *Error
	var metadata map[string]string
	var retry *errdetails.RetryInfo
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if e == nil && d.GetDomain() == errs.Domain && Reason(d.GetReason()).Known() {
				e, metadata = &Error{Reason: Reason(d.GetReason()), Message: st.Message(), Err: err}, d.GetMetadata()
			}
		case *errdetails.RetryInfo:
			retry = d
		}
	}
	if e == nil {
		return err
	}
	e.Limit = quota.Read(metadata, retry)
	return e
}
