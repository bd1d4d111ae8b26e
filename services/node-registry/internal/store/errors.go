package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// ErrNeverSeen means that no connection of the node was ever registered.
var ErrNeverSeen = errors.New("the node was never seen")

// failure says what an error of Redis means to a caller: its own cancellation, a store that cannot be reached or used
// now (BUS_UNAVAILABLE), or data that no retry will mend.
func failure(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	case broken(err):
		return fmt.Errorf("%s: %w", doing, err)
	default:
		// The cause names addresses inside the cluster; it stays on this side.
		return &errs.Error{Reason: errs.BusUnavailable, Message: doing + ": the presence store cannot be reached", Err: err}
	}
}

// answered tells whether err is Redis's reply to a command, rather than the failure of a connection.
func answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// broken tells whether a command can never succeed: a key holds what it should not, or a script is wrong. Everything
// else that Redis refuses with (LOADING, READONLY, CLUSTERDOWN, OOM, too many clients, ...) passes.
func broken(err error) bool {
	if !answered(err) {
		return errors.Is(err, errReply)
	}
	text := err.Error()
	return strings.Contains(text, "WRONGTYPE") ||
		strings.HasPrefix(text, "ERR ") && !strings.HasPrefix(text, "ERR max number of clients")
}
