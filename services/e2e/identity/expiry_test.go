package identity_test

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// grace is how long a connection outlives its token, and the leeway of these gateways: so a token that is nearly that old is
// taken, and a test need not wait for a minute.
const grace = time.Minute

// left is how long what is begun with a dying token has.
const left = 3 * time.Second

// startLenient starts a cluster that accepts tokens for a minute after they have expired.
func startLenient(t *testing.T, opts cluster.Options) (*cluster.Cluster, *rsa.PrivateKey) {
	t.Helper()
	key := newKey(t)
	opts.Gateway = func(_ int, c *gateway.Config) {
		c.Auth = auth.Config{Mode: auth.JWT, PublicKey: publicPEM(t, key), Issuer: issuer, Audience: audience, Leeway: grace}
	}
	return cluster.Start(t, opts), key
}

// dying is a token of user whose connections end soon, and when.
func dying(t *testing.T, key any, user string) (token string, ends time.Time) {
	t.Helper()
	expires := time.Now().Add(left - grace).Truncate(time.Second)
	return mint(t, key, user, func(c *auth.Claims) { c.Expires = expires }), expires.Add(grace)
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

var sockets = map[string]url.Values{
	"/ws/extension": {"client_id": {"user_ana"}, "node_id": {"n"}},
	"/ws/desktop":   {"client_id": {"desktop_ana"}, "node_id": {"d"}},
	"/ws/web":       {"user_id": {"ana"}},
}

func dial(t *testing.T, g *cluster.Gateway, path, token string) *cluster.Client {
	t.Helper()
	ws, err := g.TryDial(t, path, sockets[path], &websocket.DialOptions{HTTPHeader: bearer(token)})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return ws
}

// endsAt fails unless a socket ends for its token, and then.
func endsAt(t *testing.T, what string, ws *cluster.Client, at time.Time) {
	t.Helper()
	code := ws.Ended()
	if late := time.Since(at); code != 4003 || late < -100*time.Millisecond || late > 5*time.Second {
		t.Errorf("%s: closed with %d, %v after its time", what, code, late)
	}
}

// A socket is not for longer than who opened it is known.
func TestSocketsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	c, key := startLenient(t, cluster.Options{Gateways: 1})
	for path := range sockets {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			token, ends := dying(t, key, "ana")
			ws := dial(t, c.Gateways[0], path, token)
			ws.Silent()
			endsAt(t, path, ws, ends)
		})
	}
}

// A client that shows a new token stays, and hears until when.
func TestASocketLivesOnWithANewToken(t *testing.T) {
	t.Parallel()
	c, key := startLenient(t, cluster.Options{Gateways: 1})
	for path := range sockets {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			token, _ := dying(t, key, "ana")
			ws := dial(t, c.Gateways[0], path, token)
			other, ends := dying(t, key, "ana") // ends no earlier, and is not followed by another
			witness := dial(t, c.Gateways[0], "/ws/web", other)
			expires := time.Now().Add(time.Hour).Truncate(time.Second)
			ws.Send(fmt.Sprintf(`{"type":"token","token":%q}`, mint(t, key, "ana", func(c *auth.Claims) { c.Expires = expires })))
			ws.Expect(fmt.Sprintf(`{"type":"token_ack","success":true,"expires_at":%d}`, expires.Unix()))
			endsAt(t, "a socket without a new token", witness, ends)
			select {
			case <-ws.Done():
				t.Errorf("closed with %d although it had a new token", ws.Ended())
			default:
			}
			again, soon := dying(t, key, "ana") // the last one counts
			ws.Send(fmt.Sprintf(`{"type":"token","token":%q}`, again))
			ws.Expect(fmt.Sprintf(`{"type":"token_ack","success":true,"expires_at":%d}`, soon.Add(-grace).Unix()))
			endsAt(t, path, ws, soon)
		})
	}
}

// What would not open a socket does not prolong one.
func TestASocketDoesNotLiveOnWithABadToken(t *testing.T) {
	t.Parallel()
	c, key := startLenient(t, cluster.Options{Gateways: 1})
	for path := range sockets {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			token, ends := dying(t, key, "ana")
			ws := dial(t, c.Gateways[0], path, token)
			for name, bad := range forgeries(t, key) {
				frame, err := json.Marshal(map[string]any{"type": "token", "token": bad})
				if err != nil {
					t.Fatal(err)
				}
				ws.Send(string(frame))
				answer := ws.Next()
				if !strings.HasPrefix(answer, `{"type":"token_ack","success":false,"error":"`) {
					t.Errorf("%s: answered with %s", name, answer)
				}
				for part := range strings.SplitSeq(bad, ".") {
					if len(part) > 3 && strings.Contains(answer, part) {
						t.Errorf("%s: the answer repeats the token", name)
					}
				}
			}
			for _, frame := range []string{`{"type":"token"}`, `{"type":"token","token":7}`, `{"type":"token","token":null}`, `{"type":"token","token":{"a":1}}`} {
				ws.Send(frame)
				if answer := ws.Next(); !strings.HasPrefix(answer, `{"type":"token_ack","success":false,"error":"`) {
					t.Errorf("%s: answered with %s", frame, answer)
				}
			}
			endsAt(t, path, ws, ends)
		})
	}
}

// Some issuers write the year 9999, which has no number of nanoseconds.
func TestATokenOfTheYear9999(t *testing.T) {
	t.Parallel()
	c, key := startLenient(t, cluster.Options{Gateways: 1})
	forever := func(c *auth.Claims) { c.Expires = time.Unix(253402300799, 0) }
	token, ends := dying(t, key, "ana")
	witness := dial(t, c.Gateways[0], "/ws/web", token)
	ws := dial(t, c.Gateways[0], "/ws/web", mint(t, key, "ana", forever))
	ws.Send(fmt.Sprintf(`{"type":"token","token":%q}`, mint(t, key, "ana", forever)))
	ws.Expect(`{"type":"token_ack","success":true,"expires_at":253402300799}`)
	endsAt(t, "a socket with a token that ends", witness, ends) // so tokens were looked at
	select {
	case <-ws.Done():
		t.Errorf("closed with %d", ws.Ended())
	default:
	}
}

// Where tokens do not count, nothing ends with one.
func TestTrustedSocketsHaveNoEnd(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{Gateways: 1}).Gateways[0]
	for path, query := range sockets {
		ws := g.Dial(t, path, query)
		ws.Send(`{"type":"token","token":"whatever"}`)
		ws.Expect(`{"type":"token_ack","success":true,"expires_at":null}`)
	}
}

// A stream of events ends with its token, tells where to go on, and goes on there with a new one.
func TestStreamsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	c, key := startLenient(t, cluster.Options{Gateways: 2, Orchestrators: 1})
	fresh := bearer(mint(t, key, "ana", nil))
	run := c.Gateways[0].Stream(t, http.MethodPost, "/api/agent/invoke", map[string]any{"message": "hello"}, fresh)
	last := run.Complete("stop").Seq
	path := "/api/agent/sessions/" + run.Session + "/events"

	token, ends := dying(t, key, "ana")
	header := bearer(token)
	header.Set("Last-Event-ID", "1")
	s := c.Gateways[0].Stream(t, http.MethodGet, path, nil, header)
	stays := c.Gateways[0].Stream(t, http.MethodGet, path, nil, fresh)
	all := s.All()
	if late := time.Since(ends); late < -100*time.Millisecond || late > 5*time.Second || s.Err() != nil {
		t.Errorf("it ended %v after its time, with %v", late, s.Err())
	}
	if len(all) == 0 || all[len(all)-1].Seq != last {
		t.Errorf("of %d events it brought %d", last-1, len(all))
	}
	if end := fmt.Sprintf("\n\nid: %d\n: the token has expired, come back with a new one and Last-Event-ID\n\n", last); !strings.HasSuffix(s.Raw(), end) {
		t.Errorf("it ends with %.300q", s.Raw()[max(0, len(s.Raw())-300):])
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return c.Gateways[1].Do(t, http.MethodGet, path+"?follow=false", "", "", bearer(token)).Status == http.StatusUnauthorized
	}, "the old token begins no new one")

	again := c.Gateways[1].Stream(t, http.MethodPost, "/api/agent/invoke", map[string]any{"message": "go on", "session_id": run.Session}, fresh)
	again.Complete("stop")
	renewed := bearer(mint(t, key, "ana", nil))
	renewed.Set("Last-Event-ID", fmt.Sprint(last))
	if e := c.Gateways[1].Stream(t, http.MethodGet, path, nil, renewed).Next(); e.Seq != last+1 {
		t.Errorf("after %d comes %d", last, e.Seq)
	}
	if heard := stays.Until("complete"); heard.Seq != last {
		t.Errorf("who has time left hears %d, not %d", heard.Seq, last)
	}
	stays.Until("complete") // of the run that was begun after the other's end
}

// The SDK shows what its source has before the token ends, and comes back with the next one where the gateway closed the
// connection all the same.
func TestTheSDKRenewsItsToken(t *testing.T) {
	t.Parallel()
	c, key := startLenient(t, cluster.Options{Gateways: 1})
	expiring := mint(t, key, "ana", func(c *auth.Claims) { c.Expires = time.Now().Add(3 * time.Second) }) // it would be cut off a minute later
	var mu sync.Mutex                                                                                     // guards shown, ends and asked
	shown, ends := "", time.Time{}
	asked := 0
	var closed atomic.Bool
	states := make(chan node.State, 100)
	n, err := node.New(node.Options{
		Server: "ws://" + c.Gateways[0].HTTP, UserID: "ana", OnState: func(s node.State) {
			closed.Store(s.Phase == node.Disconnected || closed.Load())
			states <- s
		},
		Token: func(context.Context) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			switch asked++; {
			case asked == 1:
				return expiring, nil
			case closed.Load():
				return mint(t, key, "ana", nil), nil
			case shown == "":
				shown, ends = dying(t, key, "ana")
			}
			return shown, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	var phases []node.Phase
	for len(phases) < 5 {
		select {
		case s := <-states:
			phases = append(phases, s.Phase)
			mu.Lock()
			late := time.Since(ends)
			mu.Unlock()
			if s.Phase == node.Disconnected && (late < -100*time.Millisecond || late > 5*time.Second) {
				t.Errorf("disconnected (%v) %v after the time of the token that was shown last", s.Err, late)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing happens after %v", phases)
		}
	}
	want := []node.Phase{node.Connecting, node.Connected, node.Disconnected, node.Connecting, node.Connected}
	if !slices.Equal(phases, want) {
		t.Errorf("%v, want %v", phases, want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
