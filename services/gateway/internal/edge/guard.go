package edge

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/limits"
)

// Small is the limit of bodies that need no more, in bytes.
const Small = 16 << 10

// Handler answers the request of a user. Its error is answered as a problem; nothing may be written before.
type Handler func(w http.ResponseWriter, r *http.Request, user ids.UserID) error

// Guard stands before the handlers of one part. Who asks is known, and within the limits of users, before a byte of the
// body is read, and each route says how large its bodies may be.
type Guard struct {
	Auth   *auth.Authenticator
	Limits *limits.Limiter // nil for none
	// Describe makes a problem of an error.
	Describe func(error) Problem
}

// User serves the requests of users, whose bodies may have limit bytes.
func (g Guard) User(limit int64, h Handler) http.Handler {
	return g.Identified(limit, func(w http.ResponseWriter, r *http.Request, id auth.Identity) error { return h(w, r, id.User) })
}

// Identified is [Guard.User] for handlers that go on for so long that the proof may end before.
func (g Guard) Identified(limit int64, h func(http.ResponseWriter, *http.Request, auth.Identity) error) http.Handler {
	return g.open(limit, func(w http.ResponseWriter, r *http.Request) error {
		id, err := g.Auth.Authenticate(r)
		if err != nil {
			return g.Limits.Refused(r, err)
		}
		return g.Limits.Request(r, id.User, func() error { return h(w, r, id) })
	})
}

// Anybody serves requests that are nobody's own. Where tokens prove users, one is needed all the same.
func (g Guard) Anybody(limit int64, h func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return g.open(limit, func(w http.ResponseWriter, r *http.Request) error {
		if g.Auth.Mode() != auth.JWT {
			return h(w, r)
		}
		id, err := g.Auth.Authenticate(r)
		if err != nil {
			return g.Limits.Refused(r, err)
		}
		return g.Limits.Request(r, id.User, func() error { return h(w, r) })
	})
}

func (g Guard) open(limit int64, h func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if err := h(w, r); err != nil {
			g.Describe(err).Write(w)
		}
	})
}
