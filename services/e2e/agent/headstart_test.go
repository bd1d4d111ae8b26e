package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A run's first question is asked before it is known which nodes there are. Whatever has changed on any pod since the runs
// before, what the user reads was said to the tools that there are now.
func TestFirstQuestionIsGuessed(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database, Orchestrator: func(_ int, c *orchestrator.Config) { c.HeadStart = true }})
		p := w.person(t)
		p.model(modeltest.Repeat(100, modeltest.Func(func(r modeltest.Request) modeltest.Answer {
			offered := slices.DeleteFunc(slices.Clone(r.Tools), func(name string) bool { return !strings.HasPrefix(name, "its_") })
			return modeltest.Say("I have " + strings.Join(offered, " ") + ".")
		}))...)
		run := func(gateway int, want string, members ...object) *cluster.Stream {
			t.Helper()
			s := p.invoke(gateway, "What have you?", members...)
			if e := s.Complete("stop"); e.Content != want {
				t.Errorf("through gateway %d: %q, want %q", gateway, e.Content, want)
			}
			return s
		}
		// warm has both pods expect the next run to begin as the ones before.
		warm := func(want string) {
			t.Helper()
			for range 3 {
				run(0, want)
				run(1, want)
			}
		}
		first := p.bare(0, "first", "its_one")
		warm("I have its_one.")
		asked := len(p.asked())
		run(0, "I have its_one.")
		s := run(1, "I have its_one.")
		run(0, "I have its_one.", object{"session_id": s.Session})
		if n := len(p.asked()) - asked; n != 3 {
			t.Errorf("the model was asked %d times by 3 runs that could be guessed", n)
		}

		p.bare(1, "second", "its_two") // a node arrives
		run(0, "I have its_one its_two.")
		run(1, "I have its_one its_two.")
		warm("I have its_one its_two.")

		bind := func(session, node string) {
			t.Helper()
			if r := p.post(1, "/api/node/bind", object{"session_id": session, "node_id": node}); r.Status != 200 {
				t.Fatal(r.Raw)
			}
		}
		mine := "session-of-" + p.name
		bind(mine, "second") // a session that no run has had
		run(0, "I have its_two.", object{"session_id": mine})
		bind(mine, "first") // and again
		run(0, "I have its_one.", object{"session_id": mine})
		warm("I have its_one its_two.")

		first.Register(`"available_tools":["its_new"]`) // a node changes
		run(1, "I have its_new its_two.")
		run(0, "I have its_new its_two.")
		warm("I have its_new its_two.")

		first.Close() // a node leaves
		testkit.Eventually(t, 10*time.Second, func() bool {
			return !strings.Contains(p.get(1, "/api/node/devices").Raw, `"first"`)
		}, "the node is gone")
		run(1, "I have its_two.")
		run(0, "I have its_two.")
	})
}
