package node

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// token asks for a token, within the time of a handshake; "" where none is sent.
func (n *Node) token(ctx context.Context) (string, error) {
	if n.opts.Token == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, n.timing.dial)
	defer cancel()
	return n.opts.Token(ctx)
}

// renewal is when to ask for the token after this one: a minute before its end, or a quarter of what is left where that is
// less. It is false for a token that does not say when it ends.
func renewal(token string, now time.Time) (time.Time, bool) {
	ends, ok := expiry(token)
	if !ok {
		return time.Time{}, false
	}
	return ends.Add(-min(time.Minute, max(0, ends.Sub(now))/4)), true
}

// expiry reads a JWT's exp. It does not check the signature, which is up to the gateway.
func expiry(token string) (time.Time, bool) {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, _ := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if err := json.Unmarshal(raw, &claims); err != nil || claims.Exp <= 0 || claims.Exp > 1<<53 {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Exp), 0), true
}

// stayKnown shows the gateway a new token before the one that it knows ends, for as long as ctx lasts. Where there is none
// yet, or it is refused, it asks again; where none comes in time the gateway closes the connection.
func (s *session) stayKnown(ctx context.Context, known string) {
	at, ends := renewal(known, time.Now())
	for shown := known; ends; {
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
			return
		}
		next, err := s.node.token(ctx)
		switch {
		case err != nil:
			s.node.opts.Logger.WarnContext(ctx, "no new token", "error", err)
		case next != shown && next != "":
			if shown = next; s.show(ctx, next) {
				at, ends = renewal(next, time.Now())
				continue
			}
		}
		at = time.Now().Add(s.node.timing.renew)
	}
}

// show sends a token and reports whether the gateway took it. A gateway that does not know such frames does not answer; it
// does not close connections whose token has expired either.
func (s *session) show(ctx context.Context, token string) bool {
	frame, err := encode(struct {
		Type  string `json:"type"`
		Token string `json:"token"`
	}{"token", token})
	select {
	case <-s.tokens: // the answer to one before, which came late
	default:
	}
	if err != nil || s.send(ctx, frame) != nil {
		return false // the reader reports the loss
	}
	late := time.NewTimer(s.node.timing.register)
	defer late.Stop()
	select {
	case answer := <-s.tokens:
		if !answer.Success {
			s.node.opts.Logger.WarnContext(ctx, "the gateway refused a new token", "problem", answer.Error)
		}
		return answer.Success
	case <-late.C:
		return true
	case <-ctx.Done():
		return false
	}
}
