package stats_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/stats"
)

// reports counts how often it is asked.
type reports struct {
	asked int
	err   error
}

func (r *reports) GatewayTotals(context.Context) (*nodev1.GatewayStats, int, error) {
	r.asked++
	return &nodev1.GatewayStats{PendingRequests: int32(r.asked)}, 1, r.err
}

func TestAnswersAreAtMostASecondOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reports{err: errors.New("away")}
		totals := stats.NewTotals(r)
		if _, err := totals.Get(t.Context()); err == nil {
			t.Error("an error is no answer")
		}
		r.err = nil
		for range 100 {
			got, err := totals.Get(t.Context())
			if err != nil || got.GetTotal().GetPendingRequests() != 2 || got.GetGateways() != 1 {
				t.Fatalf("got %v, error %v", got, err)
			}
			<-time.After(9 * time.Millisecond) // of the bubble's clock
		}
		<-time.After(time.Second)
		if got, err := totals.Get(t.Context()); err != nil || got.GetTotal().GetPendingRequests() != 3 {
			t.Errorf("got %v, error %v", got, err)
		}
	})
}
