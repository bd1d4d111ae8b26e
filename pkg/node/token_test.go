package node

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// tokenUntil is a JWT, as far as a node looks.
func tokenUntil(at time.Time) string {
	payload := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"ana","exp":%d}`, at.Unix()))
	return "eyJhbGciOiJub25lIn0." + payload + ".sig"
}

// withTokens asks tokens for those of a node, and counts how often it does.
func withTokens(asked *atomic.Int32, tokens func(n int32) (string, error)) func(*Options) {
	return func(o *Options) {
		o.Token = func(context.Context) (string, error) { return tokens(asked.Add(1)) }
	}
}

// nextToken skips heartbeats, and returns the token that the node shows.
func (p *peer) nextToken(within time.Duration) string {
	p.t.Helper()
	for {
		frame, err := p.readWithin(within)
		if err != nil {
			p.t.Fatalf("the node shows no token: %v", err)
		}
		if token, ok := strings.CutPrefix(frame, `{"type":"token","token":"`); ok {
			return strings.TrimSuffix(token, `"}`)
		}
		p.write(`{"type":"heartbeat_ack"}`)
	}
}

func TestANewTokenIsShownAMinuteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	hourly := func(n int32) (string, error) { return tokenUntil(time.Now().Add(time.Hour)), nil }
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		began := time.Now()
		p := g.register()
		for i := 1; i <= 3; i++ {
			token := p.nextToken(2 * time.Hour)
			want := time.Duration(i) * 59 * time.Minute
			if since := time.Since(began); since < want || since > want+time.Second || token != tokenUntil(time.Now().Add(time.Hour)) {
				t.Fatalf("token %d comes after %v: %s", i, since, token)
			}
			p.write(`{"type":"token_ack","success":true,"expires_at":1}`)
		}
		if n := asked.Load(); n != 4 {
			t.Errorf("the source was asked %d times for 4 tokens", n)
		}
	}, withTokens(&asked, hourly))
}

// A source that has nothing new, fails, or has what the gateway refuses, is asked again; the same token is not shown twice.
func TestANewTokenIsAskedForUntilThereIsOne(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var first, refused, good string
	source := func(n int32) (string, error) {
		switch n {
		case 1:
			first = tokenUntil(time.Now().Add(10 * time.Minute))
			return first, nil
		case 2:
			return first, nil
		case 3:
			return "", errors.New("the issuer is away")
		case 4, 5:
			if refused == "" {
				refused = tokenUntil(time.Now().Add(time.Hour))
			}
			return refused, nil
		}
		if good == "" {
			good = tokenUntil(time.Now().Add(2 * time.Hour))
		}
		return good, nil
	}
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		began := time.Now()
		p := g.register()
		if token := p.nextToken(time.Hour); token != refused || time.Since(began) < 9*time.Minute+20*time.Second {
			t.Fatalf("%s after %v", token, time.Since(began))
		}
		p.write(`{"type":"token_ack","success":false,"error":"the token's signature is not valid here"}`)
		if token := p.nextToken(time.Hour); token != good || time.Since(began) > 10*time.Minute {
			t.Fatalf("%s after %v", token, time.Since(began))
		}
		p.write(`{"type":"token_ack","success":true,"expires_at":1}`)
		if n := asked.Load(); n != 6 {
			t.Errorf("asked %d times", n)
		}
	}, withTokens(&asked, source))
}

// A gateway that does not know the frame says nothing: the node goes by what it has shown.
func TestAGatewayThatKnowsNoTokenFrames(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	source := func(int32) (string, error) { return tokenUntil(time.Now().Add(time.Hour)), nil }
	onClock(t, nil, func(_ *testing.T, _ *running, g *gateway) {
		p := g.register()
		p.nextToken(2 * time.Hour)
		began := time.Now()
		p.nextToken(2 * time.Hour)
		if since := time.Since(began); since < 59*time.Minute {
			p.t.Errorf("the next one comes after %v", since)
		}
	}, withTokens(&asked, source))
}

func TestATokenWithoutAnEndIsNotRenewed(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"opaque", "a.b.c", "a.e30.c", "a.eyJleHAiOiJzb29uIn0.c", "a.eyJleHAiOi0xfQ.c", "a.eyJleHAiOjFlMzAwfQ.c"} {
		if at, ok := expiry(token); ok {
			t.Errorf("%s ends at %v", token, at)
		}
	}
	var asked atomic.Int32
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		p := g.register()
		for range 10 {
			p.expectWithin(`{"type":"heartbeat","status":"online","current_tasks":0}`, time.Minute)
			p.write(`{"type":"heartbeat_ack"}`)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	}, withTokens(&asked, func(int32) (string, error) { return "opaque", nil }))
}

// A node whose token came to its end comes back with the next one; one that is refused with it ends.
func TestA4003AfterTheWelcomeIsTheTokensEnd(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	onClock(t, nil, func(t *testing.T, r *running, g *gateway) {
		p := g.register()
		_ = p.ws.Close(4003, "The token has expired")
		p = g.accept()
		if got := p.request.Header.Get("Authorization"); got != "Bearer token-2" {
			t.Errorf("it comes back with %q", got)
		}
		_ = p.ws.Close(websocket.StatusCode(4003), "Not allowed")
		if err := r.wait(); !errors.Is(err, ErrNotAllowed) {
			t.Errorf("Run returned %v", err)
		}
	}, withTokens(&asked, func(n int32) (string, error) { return fmt.Sprintf("token-%d", n), nil }))
}
