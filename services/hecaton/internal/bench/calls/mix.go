package calls

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// Mix is several ways, which calls take in turn: all attempts of one call go the same way.
type Mix []Way

// Attempt makes one attempt.
func (m Mix) Attempt(ctx context.Context, try int64, r Request) (string, ledger.End) {
	return m[r.Number%int64(len(m))].Attempt(ctx, try, r)
}

// Close ends the connections of all.
func (m Mix) Close() {
	for _, way := range m {
		way.Close()
	}
}
