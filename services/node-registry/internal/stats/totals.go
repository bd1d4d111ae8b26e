package stats

import (
	"context"
	"sync/atomic"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// maxAge is how old an answer may be. Reports add their own age, and the whole may be 5 s old.
const maxAge = time.Second

// Reports is the store as Totals needs it.
type Reports interface {
	// GatewayTotals adds up the reports that count now, and tells how many they are.
	GatewayTotals(ctx context.Context) (*nodev1.GatewayStats, int, error)
}

// Totals remembers the last sum for a second. It is safe for concurrent use.
type Totals struct {
	reports Reports
	last    atomic.Pointer[answer]
}

// answer is never changed once it is stored.
type answer struct {
	at       time.Time
	response *nodev1.GetStatsResponse
}

// NewTotals returns Totals over reports.
func NewTotals(reports Reports) *Totals { return &Totals{reports: reports} }

// Get returns the sum, which the caller must not change. Callers that find it too old at the same moment each ask; that
// is cheaper than waiting for one another.
func (t *Totals) Get(ctx context.Context) (*nodev1.GetStatsResponse, error) {
	if last := t.last.Load(); last != nil && time.Since(last.at) < maxAge {
		return last.response, nil
	}
	asked := time.Now()
	total, gateways, err := t.reports.GatewayTotals(ctx)
	if err != nil {
		return nil, err
	}
	response := &nodev1.GetStatsResponse{Total: total, Gateways: int32(gateways)}
	t.last.Store(&answer{at: asked, response: response})
	return response, nil
}
