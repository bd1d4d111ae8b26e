package refusal_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
	"github.com/hecaton-dev/hecaton/pkg/security/quota"
)

// Every reason is the same on the other side of the wire, and none is a call's.
func TestReasonsSurviveTheHop(t *testing.T) {
	t.Parallel()
	for _, reason := range refusal.Reasons() {
		sent := refusal.New(reason, "because of %s", reason)
		sent.Limit = &quota.Met{Name: "runs", Limit: 64, RetryAfter: time.Second}
		got := refusal.FromGRPC(status.Convert(sent).Err())
		var e *refusal.Error
		if !errors.As(got, &e) || e.Reason != reason || e.Message != sent.Message || !errors.Is(got, reason) || *e.Limit != *sent.Limit {
			t.Errorf("%s came back as %v", reason, got)
		}
		if reason.HTTPStatus() < 400 || reason.GRPCCode() == codes.OK || reason.Title() == "" {
			t.Errorf("%s has no row", reason)
		}
		if errs.Reason(reason).Known() {
			t.Errorf("%s is a call's reason too", reason)
		}
	}
}

func TestErrorsOfOthersStay(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, io.EOF, status.Error(codes.Aborted, "x"), errs.New(errs.NodeBusy, "x")} {
		if got := refusal.FromGRPC(err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	cause := errors.New("disk")
	if err := refusal.New(refusal.Internal, "not kept: %w", cause); !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if refusal.Reason("NEW").HTTPStatus() != 500 || refusal.Reason("NEW").Known() {
		t.Error("an unknown reason is taken for ours")
	}
}
