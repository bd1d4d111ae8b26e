package schedule_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// ledger is how many tasks there are, and for how long orchestrators are killed in turn: with TEST_LEDGER=whole much more.
func ledger() (tasks int, load time.Duration) {
	if os.Getenv("TEST_LEDGER") == "whole" {
		return 1000, 2 * time.Minute
	}
	return 60, 15 * time.Second
}

// simulated is how many times as fast the ledger's clock goes as ours: an hour, for which a firing that is late still counts, takes five seconds.
const simulated = 720

// Tasks fire while three orchestrators are killed and started again in turn: each firing has one run and one conversation, and none is left out.
// The simulated days are those around a change of the clock.
func TestLedger(t *testing.T) {
	t.Parallel()
	clock := cluster.Clock{Began: time.Now(), From: time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC), Speed: simulated}
	model := modeltest.New(t)
	model.Otherwise(modeltest.Say("done"))
	c := cluster.Start(t, cluster.Options{
		Gateways: 1, Orchestrators: 3, OrchestratorProcesses: true, Model: model.URL(), Database: testkit.Postgres(t), Clock: clock,
	})
	f := &fixture{T: t, Cluster: c, model: model}
	number, load := ledger()
	tasks := make(map[string]object, number)
	for i := range number {
		// Every second hour at a minute of its own, or once a day.
		task := daily(object{"llm_config": nil, "notify": []string{}, "title": fmt.Sprint("task ", i), "prompt": fmt.Sprint("do ", i)})
		if number <= 100 || i%10 == 0 {
			task["repeat_type"], task["scheduled_time"], task["cron"] = "cron", nil, fmt.Sprintf("%d */2 * * *", i%60)
		} else {
			task["scheduled_time"] = fmt.Sprintf("%02d:%02d", i%24, i%60)
		}
		tasks[f.create(0, "ana", task)] = task
	}
	made := clock.At(time.Now())
	for i, over := 0, time.Now().Add(load); time.Now().Before(over); i++ {
		o := c.Orchestrators[i%3]
		<-time.After(3 * time.Second)
		o.Kill()
		o.Start()
	}
	until := clock.At(time.Now())
	fired := f.reconcile(tasks, made, until)
	sessions := f.sessions("ana")
	t.Logf("%d firings of %d tasks in %s of simulated time", fired, len(tasks), until.Sub(made).Round(time.Minute))
	if fired == 0 || sessions < fired {
		t.Errorf("%d firings, %d conversations", fired, sessions)
	}
}

// reconcile compares the record of each task with when it should have fired, and returns how many firings there were.
func (f *fixture) reconcile(tasks map[string]object, made, until time.Time) (fired int) {
	f.Helper()
	for id, task := range tasks {
		want := firings(task, made, until)
		got := map[string]string{}
		testkit.Eventually(f, time.Minute, func() bool {
			open := false
			clear(got)
			for _, r := range f.runs(0, "ana", id) {
				at, _ := r["fired_for"].(string)
				if _, twice := got[at]; twice {
					f.Errorf("%s fired twice for %s", task["title"], at)
				}
				got[at], _ = r["status"].(string)
				open = open || got[at] == "pending" || got[at] == "running"
			}
			return !open && len(got) >= len(want)
		}, "%s has fired for all of %v: %v", task["title"], want, got)
		for _, at := range want {
			if status := got[at.UTC().Format(time.RFC3339)]; status != "completed" {
				f.Errorf("%s, to fire for %s: %q", task["title"], at, status)
			}
			fired++
		}
		for at := range got {
			when, err := time.Parse(time.RFC3339, at)
			if err != nil || len(firings(task, when.Add(-time.Minute), when)) != 1 {
				f.Errorf("%s has fired for %s: %v", task["title"], at, err)
			}
		}
	}
	return fired
}

// firings says after which minutes, and until when, a task of the ledger fires: those at which a clock in Berlin shows it for the first time.
func firings(task object, after, until time.Time) (list []time.Time) {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	for at := after.Truncate(time.Minute).Add(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		const shown = "2006-01-02 15:04"
		local := at.In(berlin)
		if again := at.Add(-time.Hour).In(berlin); again.Format(shown) == local.Format(shown) {
			continue
		}
		due := local.Format("15:04") == task["scheduled_time"]
		if cron, ok := task["cron"].(string); ok {
			due = local.Hour()%2 == 0 && strings.HasPrefix(cron, fmt.Sprint(local.Minute(), " "))
		}
		if due {
			list = append(list, at)
		}
	}
	return list
}

// sessions counts a user's conversations, each of which must have one request to the agent.
func (f *fixture) sessions(user string) (n int) {
	f.Helper()
	seen := map[string]bool{}
	for cursor := ""; ; {
		page := f.ask(0, http.MethodGet, "/api/agent/sessions?limit=200&cursor="+url.QueryEscape(cursor), user, nil, http.StatusOK)
		for _, s := range page["sessions"].([]any) {
			id := s.(object)["session_id"].(string)
			if seen[id] {
				continue // it moved between two pages
			}
			seen[id] = true
			n++
		}
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			break
		}
	}
	for id := range seen {
		messages := fmt.Sprint(f.ask(0, http.MethodGet, "/api/agent/sessions/"+id+"/messages", user, nil, http.StatusOK)["messages"])
		if strings.Count(messages, "role:user") != 1 {
			f.Errorf("session %s: %s", id, messages)
		}
	}
	return n
}
