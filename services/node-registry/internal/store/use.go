package store

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// useKept is how long what a user took of the limits is remembered after the last sign of it. Buckets that take longer to
// fill are full again then.
const useKept = 10 * time.Minute

// Spent is what was taken of a rate.
type Spent struct {
	Limit     string // letters, digits and underscores
	Amount    int64
	PerSecond float64
	Burst     int64
}

// Places is what is held of a number of places, and how many are wanted.
type Places struct {
	Limit              string // likewise
	Held, Wanted, Most int64
}

// Use is what one user took of the limits through one gateway.
type Use struct {
	User   ids.UserID
	Spent  []Spent
	Places []Places
}

// Share is what all gateways together leave a user.
type Share struct {
	// Left is what is left of each rate, in the order of Use.Spent; below 0 where more was taken than there was.
	Left []int64
	// Granted is how many places the gateway may give, in the order of Use.Places.
	Granted []int64
	// Err is why the use could not be stored; the others may have been.
	Err error
}

// ShareUse adds what a gateway's users took to what the other gateways' did. The gateway holds the places for ttl. Results
// are in the order of uses.
func (s *Store) ShareUse(ctx context.Context, gateway ids.GatewayID, ttl time.Duration, uses []Use) []Share {
	calls := make([]call, len(uses))
	for i, u := range uses {
		args := []any{bus.Token(string(gateway)), ms(ttl), ms(useKept), len(u.Spent)}
		for _, spent := range u.Spent {
			args = append(args, spent.Limit, spent.Amount, spent.PerSecond, spent.Burst)
		}
		for _, p := range u.Places {
			args = append(args, p.Limit, p.Held, p.Wanted, p.Most)
		}
		calls[i] = call{script: useScript, keys: []string{keysOf(u.User).use()}, args: args}
	}
	shares := make([]Share, len(uses))
	for i, reply := range s.runAll(ctx, calls) {
		for range uses[i].Spent {
			shares[i].Left = append(shares[i].Left, reply.number())
		}
		for range uses[i].Places {
			shares[i].Granted = append(shares[i].Granted, reply.number())
		}
		if reply.err != nil {
			shares[i] = Share{Err: failure(ctx, "share a user's use", reply.err)}
		}
	}
	return shares
}
