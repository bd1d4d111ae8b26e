package auth

import (
	"context"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// bearerProtocol begins the entry of a subprotocol list that is a token: browsers cannot set other headers on a socket.
const bearerProtocol = "bearer."

// SocketIdentity is who opens a WebSocket.
type SocketIdentity struct {
	Identity
	// Subprotocol is the one to accept; "" for none. A browser that offers subprotocols closes the socket where the
	// server accepts none of them.
	Subprotocol string
}

// AuthenticateSocket returns the identity of a request that opens a WebSocket for user, whom its URL names. In jwt mode
// the token stands in the Authorization header, in the subprotocol list (bearer.<jwt>) or in ?token=, and user must be
// its subject; in trusted mode user is believed. Errors are *[Error].
//
// The subprotocol is set with an error too: who accepts the socket only to refuse it by close code needs it.
func (a *Authenticator) AuthenticateSocket(r *http.Request, user ids.UserID) (SocketIdentity, error) {
	offer := readOffer(r)
	id, err := a.socketUser(r, user, offer)
	return SocketIdentity{Identity: id, Subprotocol: offer.answer()}, err
}

// SocketToken reads what a request that opens a WebSocket brings for a client that says only in its first frame who it is: its
// token, empty where it brings none, and the subprotocol to accept. [Authenticator.Renew] then tells whose token it is. Errors
// are *[Error]; the subprotocol is set with an error too.
func SocketToken(r *http.Request) (token, subprotocol string, err error) {
	offer := readOffer(r)
	token, err = offeredToken(r, offer)
	return token, offer.answer(), err
}

func (a *Authenticator) socketUser(r *http.Request, user ids.UserID, offer offer) (Identity, error) {
	if a.mode == Trusted {
		return a.trust(user)
	}
	token, err := socketToken(r, offer)
	if err != nil {
		return Identity{}, err
	}
	return a.of(r.Context(), token, user, "the user named in the URL is not the token's subject")
}

// Renew returns the identity of a user who shows a new token on a connection that is open. In trusted mode every token is
// accepted, since none is needed. Errors are *[Error].
func (a *Authenticator) Renew(ctx context.Context, token string, user ids.UserID) (Identity, error) {
	if a.mode == Trusted {
		return a.trust(user)
	}
	return a.of(ctx, token, user, "the token is another user's")
}

// of verifies a token whose subject has to be user.
func (a *Authenticator) of(ctx context.Context, token string, user ids.UserID, otherwise string) (Identity, error) {
	id, err := a.Verify(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	if id.User != user {
		return Identity{}, refuse(Forbidden, nil, "%s", otherwise)
	}
	return id, nil
}

// socketToken returns the one token that a request has to bring, in however many places.
func socketToken(r *http.Request, offer offer) (string, error) {
	token, err := offeredToken(r, offer)
	if err == nil && token == "" {
		err = refuse(Unauthenticated, nil,
			"a token is required: as Authorization: Bearer, as the subprotocol %s<token>, or as ?token=", bearerProtocol)
	}
	return token, err
}

// offeredToken returns the token that a request brings; empty where it brings none.
func offeredToken(r *http.Request, offer offer) (string, error) {
	header, err := bearerHeader(r)
	if err != nil {
		return "", err
	}
	found := ""
	for _, token := range append(append(r.URL.Query()["token"], header), offer.tokens...) {
		switch {
		case token == "" || token == found:
		case found == "":
			found = token
		default:
			return "", refuse(BadRequest, nil, "the request brings more than one token")
		}
	}
	return found, nil
}

// offer is a client's list of subprotocols.
type offer struct {
	plain  []string // those that are no token
	tokens []string // the tokens of the others
}

func readOffer(r *http.Request) offer {
	var o offer
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for entry := range strings.SplitSeq(line, ",") {
			entry = strings.TrimSpace(entry)
			if token, ok := strings.CutPrefix(entry, bearerProtocol); ok {
				o.tokens = append(o.tokens, token)
			} else if entry != "" {
				o.plain = append(o.plain, entry)
			}
		}
	}
	return o
}

// answer prefers a subprotocol that is no token, so that the token does not travel back; alone, it must.
func (o offer) answer() string {
	switch {
	case len(o.plain) > 0:
		return o.plain[0]
	case len(o.tokens) > 0:
		return bearerProtocol + o.tokens[0]
	default:
		return ""
	}
}
