package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// Model answers requests to models (package llm).
type Model interface {
	// Stream sends one request, calls each for every piece of the answer in order, and returns the whole answer or an *llm.Error.
	Stream(ctx context.Context, at llm.Endpoint, req llm.Request, each func(llm.Delta) error) (llm.Answer, error)
}

// Addresses refuses addresses that users may not name, as far as that can be told without resolving them (package netguard).
type Addresses interface {
	Check(address string) error
}

// Sealer encrypts the settings of runs, so that the database alone does not reveal them (package seal).
type Sealer interface {
	Seal(purpose seal.Purpose, user ids.UserID, plain []byte) ([]byte, error)
	Open(purpose seal.Purpose, user ids.UserID, sealed []byte) ([]byte, error)
}

// Knowledge knows users' knowledge bases (package knowledge).
type Knowledge interface {
	// Check fails with KNOWLEDGE_BASE_NOT_FOUND where one is not the user's, and with KNOWLEDGE_UNAVAILABLE where nobody can say.
	Check(ctx context.Context, user ids.UserID, bases []string) error
}

// Options are what an Engine works with. All parts are required, unless they say otherwise.
type Options struct {
	Config Config

	Journal   Journal
	Leases    Leases
	Decisions Decisions
	Model     Model
	// Addresses may be nil: then an address is refused only when it is dialled.
	Addresses Addresses
	// Knowledge checks the knowledge bases that requests name; nil where there are none.
	Knowledge Knowledge
	// Sources of tools, in the order of docs/protocols/zeus-agents.md#a-run: MCP, OAuth, built-in, connector. Their remarks
	// are told in the reverse order, connector before MCP.
	Sources []tool.Source
	// Skills are those of users; nil for none.
	Skills Skills
	// Memories are what users' agents remember; nil for nothing.
	Memories builtin.Memories
	// Files stores what is too large for a conversation in the user's workspace (package workspace).
	Files     builtin.Files
	Publisher journal.Publisher
	Sealer    Sealer

	Logger  *slog.Logger          // nil discards
	Metrics prometheus.Registerer // nil registers none
	Tracing *obs.Tracing          // nil makes no spans
}

// validate reports what cannot work.
func (o Options) validate() error {
	return errors.Join(options.Require("agent", map[string]bool{
		"Journal": o.Journal == nil, "Leases": o.Leases == nil, "Decisions": o.Decisions == nil, "Model": o.Model == nil,
		"Files": o.Files == nil, "Publisher": o.Publisher == nil, "Sealer": o.Sealer == nil, "Config.Owner": o.Config.Owner == "",
	}), o.Config.validate())
}

// Config is what an operator may change. Zero values stand for the documented defaults.
type Config struct {
	// Default is the model of requests that name none.
	Default llm.Endpoint
	// DefaultWindow is the default model's window in tokens; 0 asks the table of known models.
	DefaultWindow int
	// MaxRuns bounds the active runs of this pod; 0 means 2000.
	MaxRuns int
	// RunsPerUser bounds the active runs of one user, on all pods; 0 means no limit.
	RunsPerUser int
	// MaxSteps is how many answers of the model a run takes where its request does not say; 0 means 50.
	MaxSteps int
	// ResultBytes is the most bytes of a result that the model is told; 0 means 64 KiB.
	ResultBytes int
	// ToolTokens is how many tokens the definitions of tools in one request may take, by estimate, but never more than half the
	// model's window; 0 means 16384.
	ToolTokens int
	// HeadStart has a run's first question asked before the run's beginning is stored, where it can be guessed.
	HeadStart bool
	// DecideWithin is how long an interrupt waits; 0 means 24 h.
	DecideWithin time.Duration
	// Owner is this pod's name in the store; required.
	Owner string
	// LeaseFor is how long a lease lasts without renewal; it is renewed three times in that time. 0 means 5 s.
	LeaseFor time.Duration
	// AdoptEvery is the time between looks for runs of pods that are gone; 0 means 1 s.
	AdoptEvery time.Duration
	// CallGrace is how long a call in progress may go on when the pod stops; 0 means 5 s.
	CallGrace time.Duration
}

// validate reports what cannot work.
func (c Config) validate() error {
	return options.NotNegative("agent", map[string]int64{
		"Config.DefaultWindow": int64(c.DefaultWindow), "Config.MaxRuns": int64(c.MaxRuns), "Config.RunsPerUser": int64(c.RunsPerUser),
		"Config.MaxSteps": int64(c.MaxSteps), "Config.ResultBytes": int64(c.ResultBytes), "Config.ToolTokens": int64(c.ToolTokens),
		"Config.DecideWithin": int64(c.DecideWithin), "Config.LeaseFor": int64(c.LeaseFor), "Config.AdoptEvery": int64(c.AdoptEvery),
		"Config.CallGrace": int64(c.CallGrace),
	})
}

func (c Config) withDefaults() Config {
	set(&c.MaxRuns, 2000)
	set(&c.MaxSteps, 50)
	set(&c.ResultBytes, 64<<10)
	set(&c.ToolTokens, 16<<10)
	set(&c.DecideWithin, 24*time.Hour)
	set(&c.LeaseFor, 5*time.Second)
	set(&c.AdoptEvery, time.Second)
	set(&c.CallGrace, 5*time.Second)
	return c
}

func set[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}
