package schedule_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// What one pod is told of a task holds at the other.
func TestTasksAreKeptForAllPods(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		made := f.ask(0, http.MethodPost, "/api/scheduled-task", "ana", daily(object{"node_id": "her desk", "notify": []string{}}), http.StatusCreated)
		id := made["id"].(string)
		seen := f.ask(1, http.MethodGet, "/scheduled-task/"+id, "ana", nil, http.StatusOK)
		if fmt.Sprint(seen) != fmt.Sprint(made) {
			f.Errorf("made\n%v\nseen\n%v", made, seen)
		}
		for member, want := range map[string]any{
			"title": "Morning mail", "prompt": "sum up my mail", "repeat_type": "daily", "scheduled_time": "09:00", "timezone": "Europe/Berlin",
			"node_id": "her desk", "run_mode": "auto", "status": "pending", "last_run": nil, "notify": []any{}, "weekdays": []any{},
		} {
			if fmt.Sprint(seen[member]) != fmt.Sprint(want) {
				f.Errorf("%s is %v, want %v", member, seen[member], want)
			}
		}
		if strings.Contains(fmt.Sprint(seen), "sk-secret") || seen["llm_config"].(object)["modelName"] != "m" || fmt.Sprint(seen["skills"]) != "map[names:[desktop]]" {
			f.Errorf("its model is shown as %v", seen["llm_config"])
		}
		next, err := time.Parse(time.RFC3339, seen["next_run_at"].(string))
		berlin, _ := time.LoadLocation("Europe/Berlin")
		if err != nil || next.In(berlin).Format("15:04") != "09:00" || time.Until(next) > 25*time.Hour {
			f.Errorf("it fires next at %v: %v", seen["next_run_at"], err)
		}

		changed := f.ask(1, http.MethodPatch, "/api/scheduled-task/"+id, "ana", object{"repeat_type": "cron", "cron": "0 7 1 1 *", "title": "Yearly"}, http.StatusOK)
		if changed["title"] != "Yearly" || changed["prompt"] != "sum up my mail" || changed["scheduled_time"] != "" || !strings.Contains(changed["next_run_at"].(string), "-01-01T06:00:00") {
			f.Errorf("changed to %v", changed)
		}
		if got := f.ask(0, http.MethodPost, "/scheduled-task/"+id+"/pause", "ana", nil, http.StatusOK); got["status"] != "paused" || got["next_run_at"] != nil {
			f.Errorf("paused: %v", got)
		}
		if got := f.ask(1, http.MethodPost, "/scheduled-task/"+id+"/resume", "ana", nil, http.StatusOK); got["status"] != "pending" || got["next_run_at"] == nil {
			f.Errorf("resumed: %v", got)
		}
		if got := f.ask(0, http.MethodGet, "/api/scheduled-task", "ana", nil, http.StatusOK); len(got["tasks"].([]any)) != 1 || got["total"] != 1.0 {
			f.Errorf("listed: %v", got)
		}
		if got := f.ask(1, http.MethodPost, "/scheduled-task/"+id+"/cancel", "ana", nil, http.StatusOK); got["status"] != "cancelled" {
			f.Errorf("cancelled: %v", got)
		}
		f.ask(0, http.MethodPost, "/scheduled-task/"+id+"/resume", "ana", nil, http.StatusConflict)
		f.ask(0, http.MethodPost, "/scheduled-task/"+id+"/run", "ana", nil, http.StatusConflict)
		f.ask(0, http.MethodPatch, "/scheduled-task/"+id, "ana", object{"title": "again"}, http.StatusConflict)
		f.ask(1, http.MethodDelete, "/api/scheduled-task/"+id, "ana", nil, http.StatusOK)
		f.ask(0, http.MethodGet, "/api/scheduled-task/"+id, "ana", nil, http.StatusNotFound)
	})
}

// Another user's task does not exist.
func TestTasksAreTheirUsers(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		id := f.create(0, "ana", daily(nil))
		at := "/api/scheduled-task/" + id
		for _, r := range [][2]string{
			{http.MethodGet, at}, {http.MethodDelete, at}, {http.MethodPost, at + "/pause"}, {http.MethodPost, at + "/resume"}, {http.MethodPost, at + "/run"},
			{http.MethodPost, at + "/cancel"}, {http.MethodGet, at + "/runs"}, {http.MethodPost, "/api/notifications/" + id + "/read"},
		} {
			if got := f.ask(1, r[0], r[1], "bob", nil, http.StatusNotFound); got["reason"] == nil {
				f.Errorf("%v: %v", r, got)
			}
		}
		f.ask(1, http.MethodPatch, at, "bob", object{"title": "mine"}, http.StatusNotFound)
		if got := f.ask(1, http.MethodGet, "/api/scheduled-task", "bob", nil, http.StatusOK); got["total"] != 0.0 {
			f.Errorf("bob sees %v", got)
		}
	})
}

// What makes no task is refused in words, and changes nothing.
func TestBadTasks(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		id := f.create(0, "ana", daily(nil))
		for said, c := range map[string]struct {
			more   object
			status int
		}{
			"title is required":            {object{"title": nil}, http.StatusBadRequest},
			"prompt is required":           {object{"prompt": ""}, http.StatusBadRequest},
			"title has a wrong type":       {object{"title": 7}, http.StatusBadRequest},
			"weekdays":                     {object{"weekdays": "monday"}, http.StatusBadRequest},
			"repeat_type":                  {object{"repeat_type": "hourly"}, http.StatusUnprocessableEntity},
			"scheduled_time":               {object{"scheduled_time": "25:00"}, http.StatusUnprocessableEntity},
			"needs scheduled_date":         {object{"repeat_type": "none"}, http.StatusUnprocessableEntity},
			"is over":                      {object{"repeat_type": "none", "scheduled_date": "2020-01-01"}, http.StatusUnprocessableEntity},
			"needs weekdays":               {object{"repeat_type": "weekly"}, http.StatusUnprocessableEntity},
			"weekdays[0] is 7":             {object{"repeat_type": "weekly", "weekdays": []int{7}}, http.StatusUnprocessableEntity},
			"day_of_month is 32":           {object{"repeat_type": "monthly", "day_of_month": 32}, http.StatusUnprocessableEntity},
			"never fires":                  {object{"repeat_type": "cron", "cron": "0 0 30 2 *", "scheduled_time": nil}, http.StatusUnprocessableEntity},
			"five fields":                  {object{"repeat_type": "cron", "cron": "@daily", "scheduled_time": nil}, http.StatusUnprocessableEntity},
			`timezone "Mars/Base" is unkn`: {object{"timezone": "Mars/Base"}, http.StatusUnprocessableEntity},
			"timezone must be the name":    {object{"timezone": nil}, http.StatusUnprocessableEntity},
			"run_mode is \"quick\"":        {object{"run_mode": "quick"}, http.StatusBadRequest},
			"notify[0] is \"pigeon\"":      {object{"notify": []string{"pigeon"}}, http.StatusBadRequest},
			"not set up for \"email\"":     {object{"notify": []string{"email"}}, http.StatusBadRequest},
			"tools[0].type":                {object{"tools": []object{{"type": "x"}}}, http.StatusBadRequest},
			"title has 600 bytes":          {object{"title": strings.Repeat("t", 600)}, http.StatusBadRequest},
		} {
			task := daily(c.more)
			if got := f.ask(0, http.MethodPost, "/api/scheduled-task", "ana", task, c.status); !strings.Contains(fmt.Sprint(got["error"]), said) {
				f.Errorf("%v: %v, want %q", c.more, got["error"], said)
			}
			patch := object{}
			for name := range c.more {
				patch[name] = task[name]
			}
			if strings.Contains(said, "required") || strings.Contains(said, "must be the name") {
				continue // absent means unchanged
			}
			f.ask(1, http.MethodPatch, "/api/scheduled-task/"+id, "ana", patch, c.status)
		}
		f.ask(0, http.MethodGet, "/api/scheduled-task?limit=1000", "ana", nil, http.StatusBadRequest)
		f.ask(0, http.MethodGet, "/api/scheduled-task?cursor=lies", "ana", nil, http.StatusBadRequest)
		if got := f.ask(0, http.MethodGet, "/api/scheduled-task", "ana", nil, http.StatusOK); got["total"] != 1.0 || got["tasks"].([]any)[0].(object)["repeat_type"] != "daily" {
			f.Errorf("what was refused has changed something: %v", got)
		}
	})
}

// Programs that keep their users' tasks themselves mirror them with a secret in place of a user.
func TestSync(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		sync := func(with string, body string) cluster.Response {
			header := http.Header{}
			if with != "" {
				header.Set("X-Internal-Secret", with)
			}
			return f.Gateways[0].Do(f, http.MethodPost, "/scheduled-task/sync", "", body, header)
		}
		add := `{"action":"add","task_id":"web-7","task":{"id":"web-7","user_id":"ana","title":"T","prompt":"P","repeat_type":"daily","scheduled_time":"09:30","timezone":"Asia/Shanghai"}}`
		for _, with := range []string{"", "wrong"} {
			if r := sync(with, add); r.Status != http.StatusUnauthorized {
				f.Errorf("with %q: %d %s", with, r.Status, r.Raw)
			}
		}
		if r := sync(secret, add); r.Status != http.StatusOK || r.Body["success"] != true || r.Body["action"] != "add" || r.Body["task_id"] != "web-7" {
			f.Errorf("add: %d %s", r.Status, r.Raw)
		}
		if r := sync(secret, strings.Replace(strings.Replace(add, `"add"`, `"update"`, 1), "09:30", "10:45", 1)); r.Status != http.StatusOK {
			f.Errorf("update: %d %s", r.Status, r.Raw)
		}
		if got := f.ask(1, http.MethodGet, "/api/scheduled-task/web-7", "ana", nil, http.StatusOK); got["scheduled_time"] != "10:45" || got["title"] != "T" {
			f.Errorf("mirrored: %v", got)
		}
		if r := sync(secret, strings.Replace(add, `"ana"`, `"bob"`, 1)); r.Status != http.StatusConflict {
			f.Errorf("another user's: %d %s", r.Status, r.Raw)
		}
		if r := sync(secret, `{"action":"remove","task_id":"web-7"}`); r.Status != http.StatusOK {
			f.Errorf("remove: %d %s", r.Status, r.Raw)
		}
		f.ask(1, http.MethodGet, "/api/scheduled-task/web-7", "ana", nil, http.StatusNotFound)
		for _, body := range []string{`{"action":"burn","task_id":"x","task":{"user_id":"ana"}}`, `{"action":"add","task_id":"x"}`, `{"action":"add","task":{}}`, `[]`} {
			if r := sync(secret, body); r.Status != http.StatusBadRequest {
				f.Errorf("%s: %d %s", body, r.Status, r.Raw)
			}
		}
	})
}
