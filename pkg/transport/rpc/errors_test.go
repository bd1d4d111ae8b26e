package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// fault is an error with a part that nobody outside the pod may know.
type fault struct {
	code   codes.Code
	secret string
}

func (f fault) Error() string { return "a fault" }

func public(err error) *status.Status {
	if f, ok := errors.AsType[fault](err); ok {
		return status.New(f.code, "told")
	}
	return status.New(codes.Internal, "internal error")
}

func cause(err error) error {
	if f, ok := errors.AsType[fault](err); ok {
		return errors.New(f.secret)
	}
	return err
}

// failing fails with err: a call at once, a stream after its first event.
type failing struct {
	agentv1.UnimplementedAgentServiceServer
	err error
}

func (f failing) GetInfo(context.Context, *agentv1.GetInfoRequest) (*agentv1.GetInfoResponse, error) {
	return &agentv1.GetInfoResponse{Version: "v"}, f.err
}

func (f failing) Follow(_ *agentv1.FollowRequest, stream grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
	if err := stream.Send(&agentv1.FollowResponse{}); err != nil {
		return err
	}
	return f.err
}

// followed returns how many events a stream has, and how it ends.
func followed(t *testing.T, client agentv1.AgentServiceClient) (events int, err error) {
	t.Helper()
	stream, err := client.Follow(t.Context(), &agentv1.FollowRequest{})
	for err == nil {
		if _, err = stream.Recv(); err == nil {
			events++
		}
	}
	return events, err
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		code   codes.Code
		says   string
		logged string // of a call and of a stream each; "" for nothing
	}{
		"the caller's own": {fault{codes.NotFound, "secret"}, codes.NotFound, "told", ""},
		"not just now":     {fault{codes.Unavailable, "secret"}, codes.Unavailable, "told", "level=WARN msg=refused method=%s error=secret"},
		"the pod's own":    {fault{codes.Internal, "secret"}, codes.Internal, "told", "level=ERROR msg=failed method=%s error=secret"},
		"of others":        {errors.New("surprise"), codes.Internal, "internal error", "level=ERROR msg=failed method=%s error=surprise"},
		"none":             {nil, codes.OK, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text bytes.Buffer // slog's handler writes one line at a time; read once the server has stopped
			log := slog.New(slog.NewTextHandler(&text, nil))
			_, cc, stop, _ := run(t, failing{err: tt.err}, 30*time.Second, rpc.Errors(log, public, cause)...)
			client := agentv1.NewAgentServiceClient(cc)
			_, err := client.GetInfo(t.Context(), &agentv1.GetInfoRequest{})
			if st := status.Convert(err); st.Code() != tt.code || st.Message() != tt.says {
				t.Errorf("a call ends with %v", err)
			}
			events, err := followed(t, client)
			if tt.err == nil {
				if events != 1 || err.Error() != "EOF" {
					t.Errorf("a stream of %d events ends with %v", events, err)
				}
			} else if st := status.Convert(err); events != 1 || st.Code() != tt.code || st.Message() != tt.says {
				t.Errorf("a stream of %d events ends with %v", events, err)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
			if tt.logged == "" {
				if text.Len() != 0 {
					t.Errorf("it logs %q", lines)
				}
				return
			}
			for i, method := range []string{agentv1.AgentService_GetInfo_FullMethodName, agentv1.AgentService_Follow_FullMethodName} {
				if want := strings.ReplaceAll(tt.logged, "%s", method); len(lines) != 2 || !strings.HasSuffix(lines[i], want) {
					t.Errorf("it logs %q, want %s", lines, want)
				}
			}
		})
	}
}
