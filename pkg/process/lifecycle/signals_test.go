package lifecycle_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
)

// The two tests do not run in parallel: a signal reaches every one who listens.

func TestSignalEndsTheContext(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		ctx, release := lifecycle.Signals(t.Context())
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); !strings.Contains(cause.Error(), sig.String()) {
			t.Errorf("cause %v does not name %s", cause, sig)
		}
		release()
	}
}

func TestReleaseEndsTheContext(t *testing.T) {
	ctx, release := lifecycle.Signals(t.Context())
	if ctx.Err() != nil {
		t.Error("ended before its time")
	}
	release()
	release()
	if ctx.Err() == nil {
		t.Error("release did not end the context")
	}
}
