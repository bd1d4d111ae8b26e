package zeus

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// seat is what a connection takes of its user's limits. The zero seat is nobody's.
type seat struct {
	account *limits.Account
	place   *limits.Place // of a web client; nodes have a limit of their own
}

// seat lets a connection in as its user's limits allow, or, where there is a problem, as those of its address do. The error is
// a refusal of the upgrade.
func (z *Zeus) seat(r *http.Request, client string, user ids.UserID, problem *refusal) (seat, error) {
	if problem != nil {
		return seat{}, z.Limits.Stranger(r)
	}
	account, err := z.Limits.Connect(user)
	if err != nil {
		return seat{}, err
	}
	s := seat{account: account}
	if client == webClient {
		if s.place, err = z.Limits.WebSocket(r.Context(), user); err != nil {
			s.leave()
			return seat{}, err
		}
	}
	return s, nil
}

func (s seat) leave() {
	s.place.Leave()
	s.account.Close()
}
