package schedule_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

type object = map[string]any

const secret = "a secret of programs"

// fixture is a cluster whose two gateways ask an orchestrator each.
type fixture struct {
	*cluster.Cluster
	*testing.T
	model *modeltest.Server
}

func newFixture(t *testing.T, opts cluster.Options) *fixture {
	t.Helper()
	f := &fixture{T: t, model: modeltest.New(t)}
	opts.Orchestrators, opts.Paired, opts.Model, opts.Gateways = 2, true, f.model.URL(), 2
	opts.Gateway = func(_ int, c *gateway.Config) { c.InternalSecret = secret }
	f.Cluster = cluster.Start(t, opts)
	return f
}

// on runs a test on each storage.
func on(t *testing.T, opts cluster.Options, test func(*fixture)) {
	t.Helper()
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		opts.Database = database
		test(newFixture(t, opts))
	})
}

// daily is a task that is far from firing, with what else is said of it.
func daily(more object) object {
	task := object{
		"title": "Morning mail", "prompt": "sum up my mail", "repeat_type": "daily", "scheduled_time": "09:00", "timezone": "Europe/Berlin",
		"llm_config": object{"modelName": "m", "baseUrl": nil, "apiKey": "sk-secret"}, "skills": []string{"desktop"},
	}
	for name, value := range more {
		task[name] = value
		if value == nil {
			delete(task, name)
		}
	}
	return task
}

// ask sends a request to a pod, and returns the answer, which must have this status.
func (f *fixture) ask(pod int, method, path, user string, body any, want int) object {
	f.Helper()
	text := ""
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		text = string(raw)
	}
	r := f.Gateways[pod].Do(f, method, path, user, text, nil)
	if r.Status != want {
		f.Fatalf("%s %s: %d %s, want %d", method, path, r.Status, r.Raw, want)
	}
	return r.Body
}

// create makes a task and returns its id.
func (f *fixture) create(pod int, user string, task object) string {
	f.Helper()
	return f.ask(pod, http.MethodPost, "/api/scheduled-task", user, task, http.StatusCreated)["id"].(string)
}

// runs returns the firings of a task, the last first.
func (f *fixture) runs(pod int, user, id string) (list []object) {
	f.Helper()
	all, _ := f.ask(pod, http.MethodGet, "/api/scheduled-task/"+id+"/runs", user, nil, http.StatusOK)["runs"].([]any)
	for _, r := range all {
		list = append(list, r.(object))
	}
	return list
}

// until waits until the last firing of a task has a status, and returns it.
func (f *fixture) until(pod int, user, id, status string) (run object) {
	f.Helper()
	testkit.Eventually(f, 30*time.Second, func() bool {
		list := f.runs(pod, user, id)
		if len(list) > 0 {
			run = list[0]
		}
		return run["status"] == status
	}, "the last run of %s is %s: %v", id, status, run)
	return run
}
