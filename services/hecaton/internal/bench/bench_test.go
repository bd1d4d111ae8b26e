package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/calls"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/faults"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/fleet"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/runs"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// start starts a cluster of two gateways.
func start(t *testing.T, o embedded.Options) *embedded.Cluster {
	t.Helper()
	o.Gateways, o.Model.Offline = 2, true
	change := o.Gateway
	o.Gateway = func(i int, c *gateway.Config) {
		c.Limits = gateway.Config{}.Limits // few users make all the load
		if change != nil {
			change(i, c)
		}
	}
	o.Orchestrator = func(_ int, c *orchestrator.Config) { c.Limits = orchestrator.Limits{} }
	c, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func servers(c *embedded.Cluster) (urls []string) {
	for _, g := range c.Gateways {
		urls = append(urls, "http://"+g.HTTP)
	}
	return urls
}

func sizes(t *testing.T, text string) (s plan.Sizes) {
	t.Helper()
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// options are those of a small bench of some servers.
func options(t *testing.T, servers ...string) Options {
	t.Helper()
	return Options{
		Servers: servers, Token: func(string) (string, error) { return "", nil },
		Plan:    plan.Spec{Seed: 5, Nodes: 20, Payload: sizes(t, "200,64KiB:0.1"), Answer: sizes(t, "100,32KiB:0.1"), Think: plan.Span{To: 5 * time.Millisecond}},
		Callers: 8, Duration: 1500 * time.Millisecond, Timeout: 20 * time.Second, Patience: 20 * time.Second, Connect: time.Minute,
	}
}

// Everything at once, on a cluster to which nothing happens.
func TestACalmCluster(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{})
	o := options(t, servers(c)...)
	var said bytes.Buffer
	o.Rate, o.Runs, o.Progress, o.Terminal = 200, 4, &said, true
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed || r.Calls.Answered < 8 || r.Ledger.Answered != r.Calls.Answered || r.Ledger.Executed != r.Ledger.Sent || r.Stopped != "" {
		t.Errorf("%s", r.Text())
	}
	if r.Nodes.Up != 20 || r.Nodes.FewestUp != 20 || r.Nodes.Reconnected != 0 || r.Load.Users != 4 {
		t.Errorf("%+v", r.Nodes)
	}
	if r.Runs.Ended < 4 || r.Runs.Finishes["stop"] != r.Runs.Ended || r.Steps.Answered < r.Runs.Ended || r.Steps.Executed != r.Steps.Sent {
		t.Errorf("%+v %+v", r.Runs, r.Steps)
	}
	if text := said.String(); !strings.Contains(text, "[====") || !strings.Contains(text, "/s  p50 ") || !strings.HasSuffix(text, clearLine) {
		t.Errorf("it says %q", text)
	}
}

const secret = "0123456789abcdef0123456789abcdef"

// Over gRPC with a service token, users having JWTs.
func TestGRPCAndTokens(t *testing.T) {
	t.Parallel()
	services := auth.ServiceAuth{Token: config.Secret(secret)}
	c := start(t, embedded.Options{Auth: auth.Config{Mode: auth.JWT, Secret: secret}, Services: services})
	o := options(t, servers(c)...)
	o.GRPC = []string{c.Gateways[0].GRPC, c.Gateways[1].GRPC}
	var err error
	if o.Dial, err = services.DialOptions(); err != nil {
		t.Fatal(err)
	}
	o.Token = func(user string) (string, error) {
		return auth.Mint(config.Secret(secret), auth.Claims{User: ids.UserID(user), Expires: time.Now().Add(time.Hour)})
	}
	o.Runs, o.Both = 2, true
	r, err := Run(t.Context(), o)
	if err != nil || !r.Passed || r.Calls.Answered < 8 || r.Runs.Ended < 1 {
		t.Fatalf("%v\n%+v", err, r)
	}
	o.Token = func(string) (string, error) { return "nonsense", nil }
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "a node may not connect") {
		t.Errorf("a wrong token: %v", err)
	}
}

// Nodes that leave and come back keep their book, and what they were given while they left is unknown to its caller.
func TestChurn(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{})
	o := options(t, servers(c)...)
	o.Plan.Churn, o.Plan.Think, o.Duration, o.Runs = 10, plan.Span{To: 20 * time.Millisecond}, 3*time.Second, 2
	r, err := Run(t.Context(), o)
	if err != nil || !r.Passed {
		t.Fatalf("%v\n%s", err, r.Text())
	}
	if r.Nodes.Left < 10 || r.Nodes.Reconnected < 5 || r.Nodes.PeakPerSecond < 1 || r.Calls.Retried == 0 || r.Calls.NotDelivered > 0 {
		t.Errorf("%s", r.Text())
	}
}

// Who does not read is cut, and nobody else waits for it.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{Gateway: func(_ int, c *gateway.Config) { c.WriteQueue, c.WriteTimeout = 1<<20, time.Second }})
	o := options(t, servers(c)...)
	o.Slow, o.Rate, o.Duration = 2, 20, 8*time.Second
	r, err := Run(t.Context(), o)
	if err != nil || !r.Passed || r.Slow.Cut < 1 || r.Slow.Kept != 0 || r.Calls.Answered < 20 {
		t.Fatalf("%v\n%s", err, r.Text())
	}
}

// proxies stand before the gateways, and are cut where the file is there.
func proxies(t *testing.T, c *embedded.Cluster, file string) (urls []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var work sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	for _, g := range c.Gateways {
		p := newProxy(t, g.HTTP)
		urls = append(urls, "http://"+p.addr())
		work.Go(func() { p.watch(ctx, file) })
	}
	return urls
}

// The way to the cluster breaks for a while, twice: connections end, and so do new ones. What is said to be lossless,
// and is not, fails the bench.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "cut")
	o := options(t, proxies(t, c, file)...)
	o.Plan.Think, o.Runs, o.Calm = plan.Span{From: 5 * time.Millisecond, To: 40 * time.Millisecond}, 3, 500*time.Millisecond
	cut := faults.Fault{Name: "way cut", Kind: "network", Do: "touch " + file, Undo: "rm " + file, Hold: 500 * time.Millisecond, Settle: 3 * time.Second}
	again, none := cut, faults.Fault{Name: "nothing", Do: "true", Settle: 100 * time.Millisecond, Lossless: true}
	again.Name, again.Lossless, again.Recover = "way cut again", true, time.Millisecond
	o.Faults = []faults.Fault{cut, again, none}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(r.Problems, "\n"); r.Passed || !strings.Contains(said, "way cut again is said to be lossless, and ") ||
		!strings.Contains(said, "way cut again: calls were answered again after ") || strings.Contains(said, "nothing") {
		t.Errorf("it passes a loss: %s", r.Text())
	}
	if len(r.Faults) != 3 || !r.Ledger.Reconciles() || !r.Steps.Reconciles() || r.Runs.Broken > 0 {
		t.Fatalf("%s", r.Text())
	}
	for _, f := range r.Faults[:2] {
		if f.Calls.Unknowns[ledger.Lost] == 0 || f.Calls.Retried == 0 || f.Trouble == 0 || f.Twice != 0 || len(f.Marks) != 4 {
			t.Errorf("%+v", f)
		}
	}
	if f := r.Faults[2]; !f.Lossless || f.Calls.Ended != f.Calls.Answered {
		t.Errorf("%+v", f)
	}
	if r.Runs.Resumed+r.Runs.Repeated == 0 || r.Nodes.Reconnected == 0 || len(r.Nodes.Lost) == 0 {
		t.Errorf("%+v %+v", r.Runs, r.Nodes)
	}
}

// A fault whose command fails ends the load, and the bench does not pass.
func TestACommandFails(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{})
	o := options(t, servers(c)...)
	o.Duration, o.Faults = time.Hour, []faults.Fault{{Name: "x", Do: "exit 7"}}
	r, err := Run(t.Context(), o)
	if err != nil || r.Passed || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], `fault "x": do: exit status 7`) {
		t.Errorf("%v %+v", err, r)
	}
}

// Whoever stops it early gets the report of what was.
func TestStopped(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{})
	o := options(t, servers(c)...)
	o.Duration, o.Runs = time.Hour, 2
	file := filepath.Join(t.TempDir(), "mended")
	o.Calm, o.Faults = time.Second, []faults.Fault{{Name: "x", Do: "touch " + file + "-not", Hold: time.Hour, Undo: "touch " + file}}
	ctx, stop := context.WithCancelCause(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(file + "-not"); err == nil {
				stop(errors.New("somebody pressed Ctrl-C"))
			}
			sleep.For(ctx, 10*time.Millisecond)
		}
	})
	r, err := Run(ctx, o)
	stop(nil)
	watching.Wait()
	if err != nil || !r.Passed || r.Stopped != "somebody pressed Ctrl-C" || r.Calls.Answered == 0 || !strings.Contains(r.Text(), "stopped early: somebody") {
		t.Fatalf("%v %+v", err, r)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("what was broken is not mended:", err)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	p := newProxy(t, "127.0.0.1:1")
	o := options(t, "http://"+p.addr())
	p.cut()
	o.Connect = 300 * time.Millisecond
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "0 of 20 nodes are connected") || !strings.Contains(err.Error(), "they had 300ms") {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"no server":           {func(o *Options) { o.Servers = nil }, "no server"},
		"no URL":              {func(o *Options) { o.Servers = []string{"host:1"} }, `server "host:1" must be a URL`},
		"no node":             {func(o *Options) { o.Plan.Nodes = 0 }, "a node at least"},
		"crowded users":       {func(o *Options) { o.Plan.Nodes, o.Plan.Users = 21, 2 }, "21 nodes need at least 3 users"},
		"lonely users":        {func(o *Options) { o.Plan.Users = 21 }, "a user without a node"},
		"negative":            {func(o *Options) { o.Runs = -1 }, "must not be negative"},
		"rate, nobody":        {func(o *Options) { o.Rate, o.Callers = 1, 0 }, "a rate needs callers"},
		"no time":             {func(o *Options) { o.Duration = 0 }, "duration must be positive"},
		"no timeout":          {func(o *Options) { o.Timeout = 0 }, "timeout and connect must be positive"},
		"negative churn":      {func(o *Options) { o.Plan.Churn = -1 }, "churn must not be negative"},
		"gRPC without a port": {func(o *Options) { o.GRPC = []string{"host"} }, "must be host:port"},
	} {
		o := options(t, "http://127.0.0.1:1")
		tt.change(&o)
		_, err := Run(t.Context(), o)
		var wrong *OptionsError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The nodes' end tells what was changed on its way, and what is not of this bench.
func TestTheBookCompares(t *testing.T) {
	t.Parallel()
	p := plan.New(plan.Spec{Seed: 1, Users: 2, Nodes: 4, Payload: sizes(t, "50"), Answer: sizes(t, "10")})
	arguments := func(tag string, n, answer int) []byte {
		c := p.Call(int64(n))
		return fmt.Appendf(nil, `{"tag":%q,"n":%d,"answer":%d,"work_us":0,"data":%q}`, tag, n, answer, p.Data(int64(n), c.Payload))
	}
	for name, tt := range map[string]struct {
		call   fleet.Call
		faults map[ledger.Fault]int
		own    bool
	}{
		"as sent":            {fleet.Call{ID: "a", Tool: calls.Tool, Arguments: arguments("t", 0, 10)}, map[ledger.Fault]int{}, true},
		"another answer":     {fleet.Call{ID: "a", Tool: calls.Tool, Arguments: arguments("t", 0, 11)}, map[ledger.Fault]int{ledger.Corrupted: 1}, false},
		"another number":     {fleet.Call{ID: "a", Tool: calls.Tool, Arguments: arguments("t", 9, 10)}, map[ledger.Fault]int{ledger.Strange: 1}, false},
		"changed data":       {fleet.Call{ID: "a", Tool: calls.Tool, Arguments: bytes.Replace(arguments("t", 0, 10), []byte(`"data":"`), []byte(`"data":"!`), 1)}, map[ledger.Fault]int{ledger.Corrupted: 1}, true},
		"another bench's":    {fleet.Call{ID: "a", Tool: calls.Tool, Arguments: arguments("u", 0, 10)}, map[ledger.Fault]int{}, false},
		"no arguments":       {fleet.Call{ID: "a", Tool: calls.Tool}, map[ledger.Fault]int{}, false},
		"a step nobody made": {fleet.Call{ID: "a", Tool: runs.Tool, Arguments: arguments("t", 0, 10)}, map[ledger.Fault]int{}, false},
	} {
		b := &book{plan: p, tag: "t", calls: ledger.New("call"), steps: ledger.New("step")}
		b.calls.Send(0, p.Call(0).Node)
		answer := b.Executed(p.Call(0).Node, tt.call)
		if got := b.calls.Reconcile().Faults; fmt.Sprint(got) != fmt.Sprint(tt.faults) {
			t.Errorf("%s: %v, want %v", name, got, tt.faults)
		}
		if own := answer == calls.Answer(p, 0, 10); own != tt.own && tt.call.Tool == calls.Tool {
			t.Errorf("%s: the answer is %q", name, answer)
		}
		if tt.call.Tool == runs.Tool && b.steps.Reconcile().Faults[ledger.Strange] != 1 {
			t.Errorf("%s: %+v", name, b.steps.Reconcile())
		}
	}
}
