package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	user = "ana"
	soon = 30 * time.Second
	// outlive is how many times longer a lease lasts than its pod believes: a machine with too much to do is late with
	// renewals, and only what the tests declare dead shall be. Its leases end with it (see [faultyStore.expire]).
	outlive = 10
)

// fixture is a database, a model, tools and files, for any number of pods.
type fixture struct {
	t     *testing.T
	model *modeltest.Server
	open  func() *store.Store
	box   *seal.Box
	files *workspace.Store
	tools []tool.Tool
	// sources and config are changed before pods start.
	sources []tool.Source
	config  agent.Config
}

// newFixture has an SQLite file, which its pods share.
func newFixture(t *testing.T, tools ...tool.Tool) *fixture {
	t.Helper()
	return newFixtureOn(t, shared(t), tools...)
}

// shared is one store for all pods of a test.
func shared(t *testing.T) func() *store.Store {
	t.Helper()
	s := storetest.Open(t)
	return func() *store.Store { return s }
}

// newFixtureOn has a user who runs everything.
func newFixtureOn(t *testing.T, open func() *store.Store, tools ...tool.Tool) *fixture {
	t.Helper()
	if err := open().SetApprovalSettings(t.Context(), user, store.ApprovalSettings{Mode: "run_everything"}); err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	files, err := workspace.Open(t.Context(), workspace.Options{URL: workspace.DirURL(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	w := &fixture{t: t, model: modeltest.New(t), open: open, box: box, files: files, tools: tools}
	w.config = agent.Config{
		Default:  llm.Endpoint{BaseURL: w.model.URL(), APIKey: "k", Model: modeltest.Model},
		LeaseFor: time.Second, AdoptEvery: 50 * time.Millisecond, CallGrace: 2 * time.Second,
	}
	return w
}

// Tools implements [tool.Source].
func (w *fixture) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	return tool.Listing{Tools: w.tools}, nil
}

// pod is one engine whose store can be cut off.
type pod struct {
	*agent.Engine
	w      *fixture
	store  *store.Store
	faults *faultyStore
}

func (w *fixture) pod() *pod {
	w.t.Helper()
	s := w.open()
	client, err := llm.New(llm.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	p := &pod{w: w, store: s, faults: &faultyStore{Store: s, held: map[store.Ref]store.Lease{}}}
	cfg := w.config
	cfg.Owner, cfg.HeadStart = testkit.Prefix(w.t)+time.Now().String(), true
	p.Engine, err = agent.New(agent.Options{
		Config: cfg, Journal: p.faults, Leases: p.faults, Decisions: p.faults, Model: client, Sources: append([]tool.Source{w}, w.sources...), Files: w.files,
		Publisher: p, Sealer: w.box, Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := p.Stop(context.WithoutCancel(w.t.Context())); err != nil {
			w.t.Error(err)
		}
		client.Close()
	})
	return p
}

// Publish implements [journal.Publisher]: what is published must be stored.
func (p *pod) Publish(ref store.Ref, events []*agentv1.Event) {
	kept, err := p.store.Events(context.WithoutCancel(p.w.t.Context()), ref, events[0].GetSeq()-1, len(events))
	if err != nil || len(kept) != len(events) {
		p.w.t.Errorf("published events %d.. are not kept: %d, %v", events[0].GetSeq(), len(kept), err)
	}
}

// faultyStore is a pod's store, which can be cut off: then nothing gets through any more, as if the pod had died long enough ago for its leases
// to have run out: neither what it writes, nor its renewals.
type faultyStore struct {
	*store.Store

	leasing sync.Mutex // no lease is taken over or prolonged any more while those of a pod that is dead end

	mu   sync.Mutex
	held map[store.Ref]store.Lease
	// before and after cut the pod off before or after a commit.
	before, after func(store.Change) bool
	refuse        func(store.Change) error
	begins        func(store.Begin) error // before a run's beginning is stored
	cut           bool
	// away is how many times more nothing can be read of what the user set up.
	away int
}

var errCutOff = errs.New(errs.AgentUnavailable, "the pod is cut off")

func (d *faultyStore) cutOff() {
	d.mu.Lock()
	d.cut = true
	d.mu.Unlock()
	d.expire()
}

// expire ends the leases of a pod that is cut off.
func (d *faultyStore) expire() {
	d.leasing.Lock()
	defer d.leasing.Unlock()
	d.mu.Lock()
	leases := slices.Collect(maps.Values(d.held))
	d.mu.Unlock()
	_ = d.Store.Release(context.Background(), leases) //nolint:forbidigo // a pod's end, whatever the test's state; fails only with the database
}

func (d *faultyStore) hold(l store.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[l.Ref] = l
}

func (d *faultyStore) Begin(ctx context.Context, b store.Begin) (store.Lease, store.State, error) {
	b.TTL *= outlive
	d.mu.Lock()
	begins := d.begins
	d.mu.Unlock()
	if begins != nil {
		if err := begins(b); err != nil {
			return store.Lease{}, store.State{}, err
		}
	}
	lease, state, err := d.Store.Begin(ctx, b)
	if err == nil {
		d.hold(lease)
	}
	return lease, state, err
}

func (d *faultyStore) Decide(ctx context.Context, decide store.Decide) (store.Lease, store.State, error) {
	decide.TTL *= outlive
	lease, state, err := d.Store.Decide(ctx, decide)
	if err == nil {
		d.hold(lease)
	}
	return lease, state, err
}

func (d *faultyStore) ApprovalSettings(ctx context.Context, user ids.UserID) (store.ApprovalSettings, error) {
	d.mu.Lock()
	d.away--
	away := d.away >= 0
	d.mu.Unlock()
	if away {
		return store.ApprovalSettings{}, errCutOff
	}
	return d.Store.ApprovalSettings(ctx, user)
}

func (d *faultyStore) closed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return errCutOff
	}
	return nil
}

func (d *faultyStore) Commit(ctx context.Context, lease store.Lease, c store.Change) error {
	d.mu.Lock()
	if d.refuse != nil {
		if err := d.refuse(c); err != nil {
			d.mu.Unlock()
			return err
		}
	}
	d.cut = d.cut || d.before != nil && d.before(c)
	cut := d.cut
	d.mu.Unlock()
	if cut {
		d.expire()
		return errCutOff
	}
	err := d.Store.Commit(ctx, lease, c)
	d.mu.Lock()
	d.cut = d.cut || d.after != nil && d.after(c)
	cut = d.cut
	d.mu.Unlock()
	if cut {
		d.expire()
		return errCutOff
	}
	return err
}

func (d *faultyStore) Renew(ctx context.Context, owner string, ttl time.Duration, leases []store.Lease) (lost, cancelled []store.Lease, err error) {
	d.leasing.Lock()
	defer d.leasing.Unlock()
	if err := d.closed(); err != nil {
		return nil, nil, err
	}
	return d.Store.Renew(ctx, owner, outlive*ttl, leases)
}

func (d *faultyStore) Adopt(ctx context.Context, owner string, ttl time.Duration, limit int) ([]store.Adopted, error) {
	d.leasing.Lock() // else the dead pod could adopt its own run, and ask the model once more
	defer d.leasing.Unlock()
	if err := d.closed(); err != nil {
		return nil, err
	}
	adopted, err := d.Store.Adopt(ctx, owner, outlive*ttl, limit)
	for _, a := range adopted {
		d.hold(a.Lease)
	}
	return adopted, err
}

func (d *faultyStore) Release(ctx context.Context, leases []store.Lease) error {
	if err := d.closed(); err != nil {
		return err
	}
	return d.Store.Release(ctx, leases)
}

func (p *pod) invoke(req *agentv1.InvokeRequest) agent.Started {
	p.w.t.Helper()
	s, err := p.Invoke(p.w.t.Context(), user, req)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return s
}

// say begins a run with a message.
func (p *pod) say(message string) agent.Started {
	p.w.t.Helper()
	return p.invoke(&agentv1.InvokeRequest{Message: message})
}

func (p *pod) resume(s agent.Started, decisions ...*agentv1.ToolCallDecision) agent.Started {
	p.w.t.Helper()
	next, err := p.Resume(p.w.t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: decisions})
	if err != nil {
		p.w.t.Fatal(err)
	}
	return next
}

// ended waits for the `complete` after s, and returns the events from there.
func (p *pod) ended(s agent.Started) events {
	p.w.t.Helper()
	var out events
	testkit.Eventually(p.w.t, soon, func() bool {
		var err error
		out, err = p.store.Events(p.w.t.Context(), s.Ref, s.After, 0)
		if err != nil {
			p.w.t.Fatal(err)
		}
		return len(out) > 0 && out[len(out)-1].GetComplete() != nil
	}, "the run ends")
	for i, e := range out {
		if e.GetSeq() != s.After+1+int64(i) || e.GetRunId() != s.Run || e.GetSessionId() != string(s.Session) || e.GetAt() == nil {
			p.w.t.Errorf("event %d is %v", i, e)
		}
	}
	return out
}

func (p *pod) state(s agent.Started) store.State {
	p.w.t.Helper()
	state, err := p.store.Load(p.w.t.Context(), s.Ref)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return state
}

type events []*agentv1.Event

// text is what a client shows: pieces that were replaced do not count.
func (es events) text() string {
	pieces := map[string]string{}
	var order []string
	for _, e := range es {
		if x := e.GetText(); x != nil {
			delete(pieces, x.GetReplaces())
			if _, seen := pieces[x.GetMessageId()]; !seen {
				order = append(order, x.GetMessageId())
			}
			pieces[x.GetMessageId()] += x.GetContent()
		}
	}
	var b strings.Builder
	for _, id := range order {
		b.WriteString(pieces[id])
	}
	return b.String()
}

// heard is what a client has that takes every piece of text.
func (es events) heard() string {
	var b strings.Builder
	for _, e := range es {
		b.WriteString(e.GetText().GetContent())
	}
	return b.String()
}

func (es events) finish() string { return es[len(es)-1].GetComplete().GetFinishReason() }

func (es events) results() (out []*agentv1.ToolCallResult) {
	for _, e := range es {
		if x := e.GetToolCallResult(); x != nil {
			out = append(out, x)
		}
	}
	return out
}

func (es events) interrupt(t *testing.T) *agentv1.Interrupt {
	t.Helper()
	for _, e := range es {
		if x := e.GetInterrupt(); x != nil {
			return x
		}
	}
	t.Fatalf("no interrupt in %v", es)
	return nil
}

// kinds are the events' kinds, runs of pieces as one.
func (es events) kinds() string {
	var out []string
	for _, e := range es {
		name := string(e.ProtoReflect().WhichOneof(e.ProtoReflect().Descriptor().Oneofs().ByName("kind")).Name())
		if n := len(out); n == 0 || out[n-1] != name || name != "text" && name != "tool_call_chunk" {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// fake is a tool that does what a test says, and counts.
type fake struct {
	spec tool.Spec
	do   func(ctx context.Context, in tool.Invocation) (tool.Result, error)

	mu    sync.Mutex
	calls []tool.Invocation
}

func newFake(name string, do func(ctx context.Context, in tool.Invocation) (tool.Result, error)) *fake {
	return &fake{spec: tool.Spec{
		Name: name, Description: "For tests.", Parameters: json.RawMessage(`{"type":"object"}`), Layer: tool.Connector, Category: tool.Device,
	}, do: do}
}

// echo answers with its arguments.
func echo(name string) *fake {
	return newFake(name, func(_ context.Context, in tool.Invocation) (tool.Result, error) {
		return tool.Result{Text: name + string(in.Args)}, nil
	})
}

func (f *fake) Spec() tool.Spec { return f.spec }

func (f *fake) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	f.mu.Lock()
	f.calls = append(f.calls, in)
	f.mu.Unlock()
	return f.do(ctx, in)
}

func (f *fake) seen() []tool.Invocation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// device is a fake on a node that can change.
type device struct {
	*fake
	mu    sync.Mutex
	at    tool.Place
	err   error
	asked int
}

func (d *device) Place(context.Context) (tool.Place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	return d.at, d.err
}

func (d *device) move(at tool.Place, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at, d.err = at, err
}

// Call does what tools of nodes do: it goes where it must, or nowhere.
func (d *device) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	d.mu.Lock()
	at, err := d.at, d.err
	d.mu.Unlock()
	if err != nil {
		return tool.Result{}, err
	}
	device, _, _ := strings.Cut(in.NodeMark, "#")
	there, _, _ := strings.Cut(at.Mark, "#")
	another := tool.Failure{Outcome: tool.NotDelivered, Message: "another device"}
	switch {
	case in.Node != at.Node || device != there:
		return tool.Result{}, &another
	case in.Approved && in.NodeMark != at.Mark:
		return tool.Result{}, &tool.Moved{Failure: another}
	}
	return d.fake.Call(ctx, in)
}

func newDevice(name string) *device {
	return &device{fake: echo(name), at: tool.Place{Node: "desk", Mark: "m1"}}
}

func wantReason(t *testing.T, err error, reason errs.Reason) {
	t.Helper()
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want %s", err, reason)
	}
}
