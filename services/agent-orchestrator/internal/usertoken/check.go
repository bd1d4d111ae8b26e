package usertoken

import (
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Limits of a token.
const (
	maxNodes        = 32
	shortest        = time.Minute
	longest         = 366 * 24 * time.Hour
	defaultLifetime = 90 * 24 * time.Hour
)

// check refuses what makes no token: what a caller asks for has to be said.
func check(req *agentv1.CreateTokenRequest) error {
	if req.GetName() != "" {
		if err := ids.Check("name", req.GetName()); err != nil {
			return err
		}
	}
	if len(req.GetScopes()) == 0 {
		return errs.New(errs.InvalidArgument, "scopes is empty: name what the token is for, of %v", auth.Scopes())
	}
	for i, scope := range req.GetScopes() {
		switch {
		case !slices.Contains(auth.Scopes(), auth.Scope(scope)):
			return errs.New(errs.InvalidArgument, "scopes[%d] is %q, must be one of %v", i, scope, auth.Scopes())
		case slices.Contains(req.GetScopes()[:i], scope):
			return errs.New(errs.InvalidArgument, "scopes[%d] is there twice", i)
		}
	}
	if n := len(req.GetNodes()); n > maxNodes {
		return errs.New(errs.InvalidArgument, "nodes has %d nodes, at most %d are allowed", n, maxNodes)
	}
	for _, node := range req.GetNodes() {
		if err := ids.Check("nodes", node); err != nil {
			return err
		}
	}
	if d := lifetime(req); d < shortest || d > longest {
		return errs.New(errs.InvalidArgument, "expires_in is %d, must be between %d and %d seconds", req.GetExpiresIn(), shortest/time.Second, longest/time.Second)
	}
	return nil
}

// lifetime is for how long the token is good.
func lifetime(req *agentv1.CreateTokenRequest) time.Duration {
	if req.GetExpiresIn() == 0 {
		return defaultLifetime
	}
	return time.Duration(req.GetExpiresIn()) * time.Second
}
