package identity_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// keys are what pods that start now are given, and what the issuer of users' tokens signs with.
type keys struct{ service, jwt, issuer config.Secret }

const (
	oldService, newService = config.Secret("the old token of services"), config.Secret("the new token of services")
	oldJWT, newJWT         = config.Secret("the old key of users' tokens of 32 bytes"), config.Secret("the new key of users' tokens of 32 bytes")
)

// rotation is a cluster whose keys are replaced while it is used.
type rotation struct {
	*testing.T
	c    *cluster.Cluster
	now  atomic.Pointer[keys]
	turn atomic.Int64

	mu   sync.Mutex
	live []*cluster.Gateway
	done map[string]int // by kind of request
}

// TestKeysAreRotatedWithoutARefusedCall rolls every pod in each of the three steps of docs/operations.md#rotate-keys, under
// load.
func TestKeysAreRotatedWithoutARefusedCall(t *testing.T) {
	t.Parallel()
	r := &rotation{T: t, done: map[string]int{}}
	r.now.Store(&keys{oldService, oldJWT, oldJWT})
	const delay = 300 * time.Millisecond // to notice that a pod is about to go
	r.c = cluster.Start(t, cluster.Options{
		Registries: 2, Orchestrators: 2,
		Gateway: func(_ int, c *gateway.Config) {
			k := r.now.Load()
			c.Auth = auth.Config{Mode: auth.JWT, Secret: k.jwt}
			c.Services.Token, c.DrainDelay = k.service, delay
			if c.GRPCAddr == "127.0.0.1:0" { // which its successor takes over
				c.HTTPAddr, c.GRPCAddr = fmt.Sprintf("127.0.0.1:%d", testkit.FreePort()), fmt.Sprintf("127.0.0.1:%d", testkit.FreePort())
			}
		},
		Registry:     func(c *registry.Config) { c.Services.Token, c.DrainDelay = r.now.Load().service, delay },
		Orchestrator: func(_ int, c *orchestrator.Config) { c.Services.Token, c.DrainDelay = r.now.Load().service, delay },
	})
	r.live = append(r.live, r.c.Gateways...)
	node := r.node()
	if got := r.c.Gateways[0].Do(t, http.MethodPut, "/api/agent/approval-settings", "", `{"mode":"run_everything"}`, bearer(r.token())); got.Status != http.StatusOK {
		t.Fatalf("%d %s", got.Status, got.Raw) // else no run's call goes to a gateway
	}
	stop := r.load()
	r.goesOn()
	for _, step := range []keys{
		{oldService + "," + newService, oldJWT + "," + newJWT, oldJWT},
		{newService + "," + oldService, newJWT + "," + oldJWT, newJWT},
		{newService, newJWT, newJWT},
	} {
		if step.issuer != r.now.Load().issuer { // everybody takes its tokens by now
			before := *r.now.Load()
			before.issuer = step.issuer
			r.now.Store(&before)
			r.goesOn()
		}
		r.now.Store(&step)
		r.roll()
	}
	stop()
	for _, closed := range node.Closed() {
		if closed.Code != 1012 {
			t.Errorf("the node's socket was closed with %d", closed.Code)
		}
	}
	old := bearer(mint(t, oldJWT, "ana", nil))
	if status := r.c.Gateways[len(r.c.Gateways)-1].Do(t, http.MethodGet, "/api/node/devices", "", "", old).Status; status != http.StatusUnauthorized {
		t.Errorf("a token of the old key in the end: %d", status)
	}
	t.Logf("%v", r.done)
}

// roll replaces every pod, one after the other.
func (r *rotation) roll() {
	r.Helper()
	for i := range r.c.Registries {
		r.c.RestartRegistry(i)
		r.goesOn()
	}
	for _, o := range r.c.Orchestrators {
		o.Stop(r)
		o.Start()
		r.goesOn()
	}
	for i := range 2 {
		r.mu.Lock()
		old := r.live[i]
		r.live = append(r.live[:i:i], r.live[i+1:]...)
		r.mu.Unlock()
		old.Stop(r)
		fresh := r.c.StartGateway(func(c *gateway.Config) { c.HTTPAddr, c.GRPCAddr = old.HTTP, old.GRPC })
		r.mu.Lock()
		r.live = append(r.live[:i:i], append([]*cluster.Gateway{fresh}, r.live[i:]...)...)
		r.mu.Unlock()
		r.goesOn()
	}
}

func (r *rotation) gateway() *cluster.Gateway {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[int(r.turn.Add(1))%len(r.live)]
}

// token is one that the issuer has just signed.
func (r *rotation) token() string { return mint(r.T, r.now.Load().issuer, "ana", nil) }

// node is ana's, and comes back with a fresh token as often as its pod goes.
func (r *rotation) node() *cluster.Roamer {
	r.Helper()
	var there atomic.Bool
	node := cluster.Roam(r, func(int) (*cluster.Client, error) {
		ws, err := r.gateway().TryDial(r, "/ws/extension", url.Values{"client_id": {"user_ana"}, "node_id": {"n"}},
			&websocket.DialOptions{HTTPHeader: bearer(r.token())})
		if err == nil {
			_ = ws.TrySend(websocket.MessageText, []byte(`{"type":"register","available_tools":["click"]}`)) // it may be closing
			there.Store(true)
		}
		return ws, err
	}, func(cluster.ToolCall) string { return cluster.Text("clicked") })
	testkit.Eventually(r, 30*time.Second, there.Load, "the node connects")
	return node
}

// load asks in every way in which a key is shown: users to gateways, gateways to registries and orchestrators, orchestrators to
// gateways.
func (r *rotation) load() (stop func()) {
	quit := make(chan struct{})
	var work sync.WaitGroup
	for kind, ask := range map[string]func() (*http.Request, error){
		"calls": func() (*http.Request, error) {
			return r.request(http.MethodPost, "/api/node/browser/tool", `{"tool_name":"click","node_id":"n"}`)
		},
		"lists": func() (*http.Request, error) { return r.request(http.MethodGet, "/api/node/devices", "") },
		"runs": func() (*http.Request, error) {
			return r.request(http.MethodPost, "/api/agent/invoke", `{"message":"call click {}","preferred_node_id":"n","tool_interrupt_config":{}}`)
		},
		"tools": func() (*http.Request, error) {
			return r.request(http.MethodPost, "/api/tools/call", `{"tool_name":"click","node_id":"n"}`)
		},
	} {
		work.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					r.once(kind, ask)
				}
			}
		})
	}
	return func() {
		close(quit)
		work.Wait()
	}
}

func (r *rotation) request(method, path, body string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(r.Context(), method, "http://"+r.gateway().HTTP+path, strings.NewReader(body))
	if err == nil {
		req.Header = bearer(r.token())
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

var impatient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

// once asks until it is served. A pod that has just gone, and a node that is between two, are no refusal; everything else is.
func (r *rotation) once(kind string, ask func() (*http.Request, error)) {
	req, err := ask()
	if err != nil {
		r.Error(err)
		return
	}
	resp, err := impatient.Do(req)
	if err != nil {
		sleep.For(r.Context(), 5*time.Millisecond)
		return // the pod has gone
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	text := string(body)
	switch {
	case err != nil, strings.Contains(text, "NODE_NOT_CONNECTED"):
		sleep.For(r.Context(), 5*time.Millisecond)
	case resp.StatusCode != http.StatusOK, strings.Contains(text, `"error_code"`), strings.Contains(text, "ervice token"):
		r.Errorf("%s are refused: %d %.500s", kind, resp.StatusCode, text)
	default:
		r.mu.Lock()
		r.done[kind]++
		r.mu.Unlock()
	}
}

// goesOn waits until every kind of request is served that begins now.
func (r *rotation) goesOn() {
	r.Helper()
	r.mu.Lock()
	before := map[string]int{}
	for kind, n := range r.done {
		before[kind] = n
	}
	r.mu.Unlock()
	testkit.Eventually(r, time.Minute, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, kind := range []string{"calls", "lists", "runs", "tools"} {
			if r.done[kind] < before[kind]+4 {
				return false
			}
		}
		return true
	}, "every kind of request is served")
}
