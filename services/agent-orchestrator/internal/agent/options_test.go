package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
)

// A mistake in the wiring shows at the start, and all of it at once.
func TestOptionsThatCannotWork(t *testing.T) {
	t.Parallel()
	_, err := agent.New(agent.Options{Config: agent.Config{MaxRuns: -1, LeaseFor: -time.Second}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"Journal", "Leases", "Decisions", "Model", "Files", "Publisher", "Sealer", "Config.Owner", "Config.MaxRuns is -1", "Config.LeaseFor",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
