package grpcapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// limitName is what a limit may be called: it is part of a key's field.
var limitName = regexp.MustCompile(`^[a-zA-Z0-9_]{1,64}$`)

// ShareUse implements NodeRegistryService.
func (s *Server) ShareUse(ctx context.Context, req *nodev1.ShareUseRequest) (*nodev1.ShareUseResponse, error) {
	if err := ids.Check("gateway_id", req.GetGatewayId()); err != nil {
		return nil, err
	}
	ttl := req.GetTtl().AsDuration()
	if ttl < time.Millisecond {
		return nil, status.Error(codes.InvalidArgument, fmt.Sprintf("ttl is %v, it must be at least 1ms", ttl))
	}
	shares := make([]*nodev1.UserShare, len(req.GetUsers()))
	uses := make([]store.Use, 0, len(shares))
	at := make([]int, 0, len(shares)) // where each of uses stands in the request
	for i, u := range req.GetUsers() {
		use, err := userUse(u)
		if err != nil {
			shares[i] = &nodev1.UserShare{Error: oneLine(err)}
			continue
		}
		uses, at = append(uses, use), append(at, i)
	}
	var stored failures
	for j, share := range s.Sharer.ShareUse(ctx, ids.GatewayID(req.GetGatewayId()), ttl, uses) {
		stored.count(share.Err)
		answer := &nodev1.UserShare{Left: share.Left, Granted: share.Granted}
		if share.Err != nil {
			answer.Error = public(share.Err).Message()
		}
		shares[at[j]] = answer
	}
	if err := stored.all(); err != nil {
		return nil, err
	}
	s.logPartial(ctx, "share use", stored)
	return &nodev1.ShareUseResponse{Users: shares}, nil
}

func userUse(u *nodev1.UserUse) (store.Use, error) {
	err := ids.Check("user_id", u.GetUserId())
	use := store.Use{User: ids.UserID(u.GetUserId())}
	for _, s := range u.GetSpent() {
		if !limitName.MatchString(s.GetLimit()) || s.GetAmount() < 0 || s.GetBurst() < 1 || !(s.GetPerSecond() > 0) || math.IsInf(s.GetPerSecond(), 0) {
			err = errors.Join(err, fmt.Errorf("spent: the name or numbers of limit %q are not valid", s.GetLimit()))
		}
		use.Spent = append(use.Spent, store.Spent{
			Limit: s.GetLimit(), Amount: s.GetAmount(), PerSecond: s.GetPerSecond(), Burst: s.GetBurst(),
		})
	}
	for _, p := range u.GetPlaces() {
		if !limitName.MatchString(p.GetLimit()) || p.GetHeld() < 0 || p.GetWanted() < p.GetHeld() || p.GetMost() < 0 {
			err = errors.Join(err, fmt.Errorf("places: the name or numbers of limit %q are not valid", p.GetLimit()))
		}
		use.Places = append(use.Places, store.Places{
			Limit: p.GetLimit(), Held: p.GetHeld(), Wanted: p.GetWanted(), Most: p.GetMost(),
		})
	}
	return use, err
}
