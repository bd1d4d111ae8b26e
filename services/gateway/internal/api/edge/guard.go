package edge

import (
	"context"
	"io"
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// Limits of bodies, in bytes.
const (
	// NoBody is for routes that read none. A body that comes all the same, and is [Small], is ignored.
	NoBody = 0
	// Small is the limit of bodies that need no more.
	Small = 16 << 10
)

// Guard stands before the handlers of one part. The user is authenticated, allowed what the route needs, and within the user's
// limits, before a byte of the body is read. Each route says what a token must allow, and how large its bodies may be. A request
// ends when its token is revoked. An error of a handler, which must have written nothing then, is
// answered as a problem.
type Guard struct {
	Auth   *auth.Authenticator
	Limits *limits.Limiter // nil for none
	// Describe makes a problem of an error.
	Describe func(error) Problem
}

// User serves the requests of users whose tokens allow need, and whose bodies may have limit bytes.
func (g Guard) User(need auth.Need, limit int64, h func(http.ResponseWriter, *http.Request, ids.UserID) error) http.Handler {
	return g.Identified(need, limit, func(w http.ResponseWriter, r *http.Request, id auth.Identity) error { return h(w, r, id.User) })
}

// Identified is [Guard.User] for handlers that may last longer than the user's token, or whose answer depends on what it allows.
func (g Guard) Identified(need auth.Need, limit int64, h func(http.ResponseWriter, *http.Request, auth.Identity) error) http.Handler {
	return g.open(func(w http.ResponseWriter, r *http.Request) error {
		id, err := g.Auth.Authenticate(r)
		if err == nil && r.URL.Path == auth.ResourcePath {
			err = g.Auth.ForResource(id)
		}
		if err != nil {
			return g.Limits.Refused(r, err)
		}
		connlimit.Known(r.Context())
		if id.MayBeRevoked() { // most are not, and a context and a copy of the request have a price
			ctx, cancel := context.WithCancelCause(r.Context())
			defer cancel(nil)
			defer id.OnRevoked(func() { cancel(auth.ErrRevoked) })()
			r = r.WithContext(ctx)
		}
		return g.Limits.Request(r, id.User, func() error {
			if err := id.Grant.Allow(need); err != nil {
				return err
			}
			if err := admit(w, r, limit); err != nil {
				return err
			}
			return h(w, r, id)
		})
	})
}

// Anybody serves requests that belong to no user. In jwt mode they need a token all the same, which allows need.
func (g Guard) Anybody(need auth.Need, limit int64, h func(http.ResponseWriter, *http.Request) error) http.Handler {
	if g.Auth.Mode() == auth.JWT {
		return g.User(need, limit, func(w http.ResponseWriter, r *http.Request, _ ids.UserID) error { return h(w, r) })
	}
	return g.open(func(w http.ResponseWriter, r *http.Request) error {
		if err := admit(w, r, limit); err != nil {
			return err
		}
		return h(w, r)
	})
}

func (g Guard) open(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			if challenge := g.Auth.Challenge(r, err); challenge != "" {
				w.Header().Set("WWW-Authenticate", challenge)
			}
			g.Describe(err).Write(w)
		}
	})
}

// admit sets the limit of a body, and refuses one whose announced length is greater.
func admit(w http.ResponseWriter, r *http.Request, limit int64) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	most := limit
	if limit == NoBody {
		most = Small
	}
	if r.ContentLength > most {
		return &TooLarge{most}
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if limit == NoBody {
		_, err := io.Copy(io.Discard, r.Body)
		return BodyError(err)
	}
	return nil
}
