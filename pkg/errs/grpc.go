package errs

import (
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// Domain is the ErrorInfo domain of every reason of this package.
const Domain = "hecaton.dev"

// GRPCStatus makes an Error a gRPC error: its reason travels as google.rpc.ErrorInfo, its nodes as NodeSelection.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Reason.GRPCCode(), e.Message)
	info := &errdetails.ErrorInfo{
		Reason:   string(e.Reason),
		Domain:   Domain,
		Metadata: map[string]string{"outcome": string(e.Class())},
	}
	with, err := st.WithDetails(info)
	if err != nil { // only for codes.OK, which no reason has
		return st
	}
	if len(e.Nodes) > 0 {
		if more, err := with.WithDetails(&toolv1.NodeSelection{AvailableNodes: e.Nodes}); err == nil {
			return more
		}
	}
	return with
}

// FromGRPC returns the Error that a peer sent as a status, or err as it is where it is none of ours.
func FromGRPC(err error) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	e := &Error{Message: st.Message(), Err: err}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() == Domain && Reason(d.GetReason()).Known() {
				e.Reason = Reason(d.GetReason())
			}
		case *toolv1.NodeSelection:
			e.Nodes = d.GetAvailableNodes()
		}
	}
	if e.Reason == "" {
		return err
	}
	return e
}

// Failure returns e as the message that stands for it on a stream of many calls.
func (e *Error) Failure() *toolv1.Failure {
	return &toolv1.Failure{
		Reason: string(e.Reason), Outcome: string(e.Class()), Message: e.Message, AvailableNodes: e.Nodes,
	}
}

// FromFailure is the inverse of [Error.Failure].
func FromFailure(f *toolv1.Failure) *Error {
	return &Error{Reason: Reason(f.GetReason()), Message: f.GetMessage(), Nodes: f.GetAvailableNodes()}
}
