package errs_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// failing is a ToolService that answers every call with one error.
type failing struct {
	toolv1.UnimplementedToolServiceServer
	err error
}

func (f failing) GetStats(context.Context, *toolv1.GetStatsRequest) (*toolv1.GetStatsResponse, error) {
	return nil, f.err
}

// overGRPC returns what a client receives where a server returns err.
func overGRPC(t *testing.T, err error) error {
	t.Helper()
	listener, listenErr := net.Listen("tcp", "127.0.0.1:0")
	if listenErr != nil {
		t.Fatal(listenErr)
	}
	server := grpc.NewServer()
	toolv1.RegisterToolServiceServer(server, failing{err: err})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	conn, dialErr := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if dialErr != nil {
		t.Fatal(dialErr)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, received := toolv1.NewToolServiceClient(conn).GetStats(ctx, &toolv1.GetStatsRequest{})
	return received
}

func TestGRPCRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range reasons {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			sent := errs.New(want.reason, "why: %w", errors.New("a cause"))
			sent.Nodes = []*nodev1.Node{{Info: &nodev1.NodeInfo{NodeId: "n1", NodeName: "Laptop"}}, {Epoch: 2}}
			sent.Limit = &errs.LimitMet{Name: "calls", Limit: 400, RetryAfter: 1500 * time.Millisecond}
			if !strings.HasSuffix(sent.Error(), "why: a cause") {
				t.Errorf("a log says %v", sent)
			}
			received := overGRPC(t, sent)
			if code := status.Code(received); code != want.grpc {
				t.Errorf("code %s, want %s", code, want.grpc)
			}
			wantErrorInfo(t, received, want.name, string(want.class))
			var e *errs.Error
			if got := errs.FromGRPC(received); !errors.As(got, &e) || !errors.Is(got, want.reason) {
				t.Fatalf("came back as %v", got)
			}
			if e.Message != "why" || e.Class() != want.class || len(e.Nodes) != 2 || e.Nodes[0].GetInfo().GetNodeName() != "Laptop" {
				t.Errorf("came back as %+v", e)
			}
			if e.Limit == nil || *e.Limit != *sent.Limit {
				t.Errorf("the limit came back as %+v", e.Limit)
			}
			if status.Code(e.Unwrap()) != want.grpc {
				t.Error("the status that came is not its cause")
			}
			// A pod in between passes it on as it came.
			if again := errs.FromGRPC(overGRPC(t, e)); !errors.Is(again, want.reason) || !strings.HasSuffix(again.Error(), ": why") {
				t.Errorf("after a second hop: %v", again)
			}
		})
	}
}

// wantErrorInfo asserts what callers in other languages go by.
func wantErrorInfo(t *testing.T, err error, reason, outcome string) {
	t.Helper()
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			if info.GetReason() != reason || info.GetDomain() != errs.Domain || info.GetMetadata()["outcome"] != outcome {
				t.Errorf("ErrorInfo is %v", info)
			}
			return
		}
	}
	t.Error("there is no ErrorInfo")
}

func TestErrorsOfOthersStayThemselves(t *testing.T) {
	t.Parallel()
	with := func(reason, domain string) error {
		st, err := status.New(codes.Unavailable, "m").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: domain})
		if err != nil {
			t.Fatal(err)
		}
		return st.Err()
	}
	own := errs.New(errs.NodeBusy, "m")
	for name, err := range map[string]error{
		"nil":               nil,
		"no status":         errors.New("m"),
		"no details":        status.Error(codes.Unavailable, "m"),
		"another domain":    with(string(errs.NodeBusy), "example.org"),
		"an unknown reason": with("SOMETHING_NEW", errs.Domain),
		"one of ours":       own,
	} {
		if got := errs.FromGRPC(err); got != err { //nolint:errorlint // the very same error is what is promised
			t.Errorf("%s: %v became %v", name, err, got)
		}
	}
	if errs.Retryable(errs.FromGRPC(with("SOMETHING_NEW", errs.Domain))) {
		t.Error("what is not understood could be retried")
	}
}

func TestUnknownReasonOverGRPC(t *testing.T) {
	t.Parallel()
	received := overGRPC(t, errs.New("SOMETHING_NEW", "m"))
	var e *errs.Error
	if status.Code(received) != codes.Unknown || errors.As(errs.FromGRPC(received), &e) {
		t.Errorf("got %v, as %v", received, e)
	}
}
