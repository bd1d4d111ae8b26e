package errs

import (
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// Domain is the ErrorInfo domain of every reason of this package.
const Domain = "hecaton.dev"

// GRPCStatus makes an Error a gRPC error: its reason and, of a call, its outcome travel as google.rpc.ErrorInfo, its nodes
// as NodeSelection, when to ask again as google.rpc.RetryInfo.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Reason.GRPCCode(), e.Message)
	info := &errdetails.ErrorInfo{Reason: string(e.Reason), Domain: Domain, Metadata: map[string]string{}}
	if class := e.Class(); class != Refused {
		info.Metadata["outcome"] = string(class)
	}
	if e.At != nil {
		e.At.describe(info.Metadata)
	}
	details := []protoadapt.MessageV1{info}
	if e.Limit != nil {
		e.Limit.describe(info.Metadata)
		details = append(details, e.Limit.retryInfo())
	}
	if len(e.Nodes) > 0 {
		details = append(details, &toolv1.NodeSelection{AvailableNodes: e.Nodes})
	}
	with, err := st.WithDetails(details...)
	if err != nil { // only for codes.OK, which no reason has
		return st
	}
	return with
}

// FromGRPC returns the Error that a peer sent as a status, or err itself if it did not come from this package.
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
	var metadata map[string]string
	var retry *errdetails.RetryInfo
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() == Domain && Reason(d.GetReason()).Known() {
				e.Reason, metadata = Reason(d.GetReason()), d.GetMetadata()
			}
		case *errdetails.RetryInfo:
			retry = d
		case *toolv1.NodeSelection:
			e.Nodes = d.GetAvailableNodes()
		}
	}
	if e.Reason == "" {
		return err
	}
	e.Limit, e.At = readLimit(metadata, retry), readPlace(metadata)
	return e
}

// Failure returns the message that carries e on a stream of many calls. A call that was refused was not delivered.
func (e *Error) Failure() *toolv1.Failure {
	outcome := e.Class()
	if outcome == Refused {
		outcome = NotDelivered
	}
	f := &toolv1.Failure{Reason: string(e.Reason), Outcome: string(outcome), Message: e.Message, AvailableNodes: e.Nodes}
	if l := e.Limit; l != nil {
		f.Limit = &toolv1.LimitMet{
			Name: l.Name, Limit: l.Limit, Remaining: l.Remaining, RetryAfter: durationpb.New(l.RetryAfter),
		}
	}
	return f
}

// FromFailure is the inverse of [Error.Failure].
func FromFailure(f *toolv1.Failure) *Error {
	e := &Error{Reason: Reason(f.GetReason()), Message: f.GetMessage(), Nodes: f.GetAvailableNodes()}
	if l := f.GetLimit(); l != nil {
		e.Limit = &LimitMet{
			Name: l.GetName(), Limit: l.GetLimit(), Remaining: l.GetRemaining(), RetryAfter: l.GetRetryAfter().AsDuration(),
		}
	}
	return e
}
