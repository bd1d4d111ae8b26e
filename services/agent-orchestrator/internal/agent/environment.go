package agent

import (
	"log/slog"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/catalogue"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// environment is what the parts of one run share. The run's goroutine fills it in until run.open returns; from then on its
// fields do not change, and sub-agents and streams read them from goroutines of their own. What the fields point to says
// itself who may use it.
type environment struct {
	*parts
	lifetime
	log    *slog.Logger // with the run's id
	lease  store.Lease  // without a token until the run has begun
	trace  *runTrace
	writer *journal.Writer

	settings *settings // of an adopted run nil until open, if they could not be read before
	endpoint llm.Endpoint
	window   int           // of the model, in tokens
	ahead    time.Duration // how far the database's clock is ahead of this pod's
	todos    *builtin.Todos
	names    *catalogue.Names
	briefing *briefing
}

// remembers reports whether the run's agent has a memory.
func (e *environment) remembers() bool {
	on := e.settings.Invoke.EnableMemory
	return e.deps.Memories != nil && (on == nil || *on)
}

// maxSteps is how many answers of the model the run takes.
func (e *environment) maxSteps() int {
	if n := int(e.settings.Invoke.GetMaxSteps()); n > 0 {
		return n
	}
	return e.cfg.MaxSteps
}

func (e *environment) toolTokens() int { return toolTokens(e.cfg, e.window) }

// toolTokens is how many tokens the definitions of tools may take in one request to a model with such a window.
func toolTokens(cfg Config, window int) int { return min(cfg.ToolTokens, window/2) }
