package llm_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
)

// cancelling is a logger that calls f with each line.
func cancelling(f func()) *slog.Logger { return slog.New(slog.NewTextHandler(writer(f), nil)) }

type writer func()

func (w writer) Write(b []byte) (int, error) {
	w()
	return len(b), nil
}

func TestGuardedEndpoints(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("fine"))
	e := endpoint(s)
	e.Guarded = true
	for name, c := range map[string]struct {
		guard   netguard.Config
		answers bool
	}{
		"allowed": {netguard.Config{Private: true}, true},
		"refused": {netguard.Config{}, false},
	} {
		guard, err := netguard.New(c.guard)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(guard.Close)
		client, waits := newClient(t, llm.Options{Guarded: guard})
		a, _, err := ask(t.Context(), client, e)
		if !c.answers {
			_ = mustFail(t, err, llm.ModelUnavailable)
		} else if err != nil || a.Text != "fine" {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
		if len(*waits) != 0 {
			t.Errorf("%s: tried again", name)
		}
	}
}

// Nothing of a question, a key or an answer is logged, whatever goes wrong.
func TestLogHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Status(500, nil, key+prompt), modeltest.Status(429, nil, key+prompt), modeltest.Say("an answer"))
	var lines bytes.Buffer
	client, _ := newClient(t, llm.Options{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if _, _, err := ask(t.Context(), client, endpoint(s)); err != nil {
		t.Fatal(err)
	}
	got := lines.String()
	if strings.Count(got, "\n") != 2 || strings.Contains(got, key) || strings.Contains(got, prompt) || strings.Contains(got, "an answer") {
		t.Errorf("logged %s", got)
	}
}
