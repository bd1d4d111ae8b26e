package auth

import (
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Authenticate returns the user of a REST request. In jwt mode that is the subject of its bearer token, and a user_id in
// the query or an X-User-Id header must say the same; in trusted mode it is the user that these name. Errors are *[Error].
func (a *Authenticator) Authenticate(r *http.Request) (Identity, error) {
	named, given, err := namedUser(r)
	if err != nil {
		return Identity{}, err
	}
	if a.mode == Trusted {
		if !given {
			return Identity{}, refuse(BadRequest, nil, "name the user in ?user_id= or in X-User-Id")
		}
		return a.trust(named)
	}
	token, err := bearerHeader(r)
	if err != nil {
		return Identity{}, err
	}
	if token == "" {
		return Identity{}, refuse(Unauthenticated, nil, "an Authorization: Bearer header with a token is required")
	}
	id, err := a.Verify(r.Context(), token)
	if err != nil {
		return Identity{}, err
	}
	if given && named != id.User {
		return Identity{}, refuse(Forbidden, nil, "the user named in the request is not the token's subject")
	}
	return id, nil
}

func (a *Authenticator) trust(user ids.UserID) (Identity, error) {
	if err := ids.Check("user_id", string(user)); err != nil {
		return Identity{}, refuse(BadRequest, err, "%s", err)
	}
	return Identity{User: user}, nil
}

// namedUser returns the user that a request names in its query, its header, or both alike.
func namedUser(r *http.Request) (user ids.UserID, given bool, err error) {
	names := append(r.URL.Query()["user_id"], r.Header.Values("X-User-Id")...)
	if len(names) == 0 {
		return "", false, nil
	}
	for _, other := range names[1:] {
		if other != names[0] {
			return "", false, refuse(BadRequest, nil, "user_id in the query and X-User-Id name different users")
		}
	}
	return ids.UserID(names[0]), true, nil
}

// bearerHeader returns the token of the Authorization header, "" where there is no such header.
func bearerHeader(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", refuse(BadRequest, nil, "there is more than one Authorization header")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", refuse(Unauthenticated, nil, "the Authorization header is not a bearer token")
	}
	return token, nil
}
