package dialect

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// seat is what a connection takes of its user's limits. The zero seat is nobody's.
type seat struct {
	account *limits.Account
	place   *limits.Place // of a client that is no node; nodes have a limit of their own
}

// seat lets a connection in as its user's limits allow. The error is the refusal.
func (s *Server) seat(ctx context.Context, k *Kind, user ids.UserID) (seat, error) {
	account, err := s.Limits.Connect(user)
	if err != nil {
		return seat{}, err
	}
	taken := seat{account: account}
	if k.Type == nodev1.NodeType_NODE_TYPE_UNSPECIFIED {
		if taken.place, err = s.Limits.WebSocket(ctx, user); err != nil {
			taken.leave()
			return seat{}, err
		}
	}
	return taken, nil
}

func (s seat) leave() {
	s.place.Leave()
	s.account.Close()
}
