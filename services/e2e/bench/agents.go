package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/testkit/pgserver"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// The ways in which agents run.
const (
	wayBare     = "bare loop"
	wayDirect   = "model direct"
	waySQLite   = "SQLite"
	wayPostgres = "PostgreSQL"
)

// agentUser has one node. All runs are this user's, each in a session of its own, so that all offer the same tools.
var agentUser, _ = nodes.Name(0, 1)

// nodeText is the size of what the node answers.
const nodeText = 100

// agentPod is a process that runs agents.
type agentPod struct {
	name string
	pod
	conn *grpc.ClientConn
	// edge is the gateway in front of it.
	edge pod
}

// agents is a cluster with pods that run agents.
type agents struct {
	*cluster
	agentOptions
	dir   string
	model pod
	fleet fleet
	bare  *agentPod
	ours  []*agentPod
	// ask is how each of our pods begins a conversation: prompt and tools.
	ask     openai.ChatCompletionRequest
	session int // the last one's number
}

// startAgents starts the model, our pods, and a bare loop that asks the model as they do.
func (c *cluster) startAgents(ctx context.Context, o agentOptions) (_ *agents, err error) {
	a := &agents{cluster: c, agentOptions: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.dir, err = os.MkdirTemp("", "hecaton-bench-"); err != nil {
		return nil, err
	}
	if a.model, err = c.start(roleModel, wiring{}); err != nil {
		return nil, err
	}
	if a.fleet, err = c.nodes(); err != nil {
		return nil, err
	}
	if err := a.fleet.say(nodeText); err != nil {
		return nil, err
	}
	if _, err := a.fleet.connect(nodes.Plan{Addr: c.holder.HTTP, Dialect: nodes.Zeus, Count: 1, PerUser: 1}); err != nil {
		return nil, err
	}
	if err := a.startOurs(waySQLite, "sqlite://"+filepath.Join(a.dir, "agents.db")); err != nil {
		return nil, err
	}
	if pgserver.Installed() {
		database, err := c.start(rolePostgres, wiring{})
		if err != nil {
			return nil, err
		}
		if err := a.startOurs(wayPostgres, database.URL); err != nil {
			return nil, err
		}
	}
	return a, a.startBare(ctx)
}

// startOurs starts an orchestrator and a gateway in front of it.
func (a *agents) startOurs(name, database string) (err error) {
	p := &agentPod{name: name}
	dir := filepath.Join(a.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if p.pod, err = a.start(roleOrchestrator, wiring{
		Name: name, NATS: a.nats.URL, Gateway: a.holder.GRPC, Model: a.model.URL, Database: database, Directory: dir,
	}); err != nil {
		return err
	}
	if p.edge, err = a.gateway("edge-"+name, p.GRPC); err != nil {
		return err
	}
	if p.conn, err = dialAgent(p.GRPC); err != nil {
		return err
	}
	a.ours = append(a.ours, p)
	return p.runEverything()
}

// startBare takes the prompt and tools of one of our runs, and starts a bare loop that sends the model the same.
func (a *agents) startBare(ctx context.Context) error {
	if err := a.model.Call("Model.Listen", proc.Nothing{}, &proc.Nothing{}); err != nil {
		return err
	}
	if _, err := a.invoke(ctx, a.ours[0], "say 1 words", nil); err != nil {
		return err
	}
	var question []byte
	if err := a.model.Call("Model.Heard", proc.Nothing{}, &question); err != nil {
		return err
	}
	if err := json.Unmarshal(question, &a.ask); err != nil {
		return err
	}
	if n := len(a.ask.Messages); n != 3 {
		return fmt.Errorf("a run begins with %d messages, want a prompt, what the node says, and the user's", n)
	}
	a.ask.Messages = a.ask.Messages[:2]
	raw, err := json.Marshal(a.ask)
	if err != nil {
		return err
	}
	p, err := a.start(roleBareAgent, wiring{Gateway: a.holder.GRPC, Model: a.model.URL, Ask: raw})
	if err != nil {
		return err
	}
	a.bare = &agentPod{name: wayBare, pod: p}
	a.bare.conn, err = dialAgent(p.GRPC)
	return err
}

// close leaves the processes to the cluster.
func (a *agents) close() error {
	var errs []error
	for _, p := range append(a.ours, a.bare) {
		if p != nil && p.conn != nil {
			errs = append(errs, p.conn.Close())
		}
	}
	for _, c := range a.children {
		switch c.Role {
		case roleOrchestrator, roleBareAgent: // what they write to is about to go
			c.Kill()
		}
	}
	return errors.Join(append(errs, os.RemoveAll(a.dir))...)
}

// pace sets how fast the model is.
func (a *agents) pace(d time.Duration) error {
	return a.model.Call("Model.Pace", d, &proc.Nothing{})
}

// agentParts are what is measured of agents, in this order.
var agentParts = []string{"loops", "first tokens", "streams", "memory"}

// measureAgents measures all of it, or the one part that was asked for.
func (r *report) measureAgents(ctx context.Context, o options, c *cluster, log io.Writer) (err error) {
	fmt.Fprintln(log, "agents")
	a, err := c.startAgents(ctx, o.Agents)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	r.Agents = &agentReport{}
	for i, measure := range []func(context.Context, options, *agentReport) error{
		a.measureLoops, a.measureFirst, a.measureStreams, a.measureMemory,
	} {
		if o.Agents.Only != "" && o.Agents.Only != agentParts[i] {
			continue
		}
		fmt.Fprintln(log, "agents: "+agentParts[i])
		if err := measure(ctx, o, r.Agents); err != nil {
			return fmt.Errorf("agents: %s: %w", agentParts[i], err)
		}
	}
	return nil
}
