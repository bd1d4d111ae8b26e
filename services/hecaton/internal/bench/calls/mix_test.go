package calls

import (
	"context"
	"testing"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// named is a way that answers with its name.
type named struct {
	name   string
	closed *int
}

func (n named) Attempt(context.Context, int64, Request) (string, ledger.End) { return n.name, answered }
func (n named) Close()                                                       { *n.closed++ }

func TestAllAttemptsOfACallGoTheSameWay(t *testing.T) {
	t.Parallel()
	closed := 0
	m := Mix{named{"a", &closed}, named{"b", &closed}}
	for n := range int64(6) {
		for try := range int64(5) {
			if way, _ := m.Attempt(t.Context(), try, Request{Number: n}); way != []string{"a", "b"}[n%2] {
				t.Errorf("attempt %d of call %d goes the way %s", try, n, way)
			}
		}
	}
	if m.Close(); closed != 2 {
		t.Errorf("%d ways are closed", closed)
	}
}
