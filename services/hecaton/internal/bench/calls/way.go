package calls

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// Way is how an attempt reaches the cluster.
type Way interface {
	// Attempt makes one attempt, and returns the text of the answer, where there is one. try counts the attempts of all
	// calls: with several servers, the next attempt goes to the next one.
	Attempt(ctx context.Context, try int64, r Request) (text string, end ledger.End)
	// Close ends its connections.
	Close()
}

// Request is one call of a tool.
type Request struct {
	Number           int64 // of the call
	User, Node, Tool string
	Arguments        []byte
}
