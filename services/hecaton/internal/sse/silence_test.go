package sse_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/sse"
)

func TestCloseWhenSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		body := sse.CloseWhenSilent(in, 40*time.Second)
		began := time.Now()
		go func() {
			for range 3 {
				<-time.After(15 * time.Second)
				_, _ = out.Write([]byte(": beat\n")) // who reads it finds out
			}
		}()
		text, err := io.ReadAll(body)
		if took := time.Since(began); len(text) != 21 || !errors.Is(err, io.ErrClosedPipe) || took != 85*time.Second {
			t.Errorf("%q after %v: %v", text, took, err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	})
}
