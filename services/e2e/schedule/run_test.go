package schedule_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A run that is asked for goes on at any pod, and its user is told how it ended.
func TestRunNow(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		f.model.Otherwise(modeltest.Say("You have ", "three mails."))
		id := f.create(0, "ana", daily(object{"llm_config": nil}))
		web := f.Gateways[1].Web(f, "ana")
		begun := f.ask(1, http.MethodPost, "/api/scheduled-task/"+id+"/run", "ana", nil, http.StatusOK)
		if begun["status"] != "running" || begun["session_id"] == "" {
			f.Errorf("begun: %v", begun)
		}
		run := f.until(0, "ana", id, "completed")
		if run["session_id"] != begun["session_id"] || run["finished_at"] == nil || run["id"] != begun["id"] {
			f.Errorf("ended: %v", run)
		}
		messages := f.ask(0, http.MethodGet, "/api/agent/sessions/"+run["session_id"].(string)+"/messages", "ana", nil, http.StatusOK)
		if text := fmt.Sprint(messages); !strings.Contains(text, "sum up my mail") || !strings.Contains(text, "You have three mails.") {
			f.Errorf("the conversation: %s", text)
		}
		frame := web.Next()
		for !strings.Contains(frame, `"type":"notification"`) {
			frame = web.Next()
		}
		list := f.ask(1, http.MethodGet, "/notifications", "ana", nil, http.StatusOK)["notifications"].([]any)
		if len(list) != 1 {
			f.Fatalf("notifications: %v", list)
		}
		n := list[0].(object)
		if n["task_id"] != id || n["title"] != "Morning mail" || n["read"] != false || n["status"] != "completed" || n["message"] != "You have three mails." || !strings.Contains(frame, n["id"].(string)) {
			f.Errorf("told: %v, on the socket %s", n, frame)
		}
		f.ask(0, http.MethodPost, "/api/notifications/"+n["id"].(string)+"/read", "ana", nil, http.StatusOK)
		if list = f.ask(1, http.MethodGet, "/api/notifications", "ana", nil, http.StatusOK)["notifications"].([]any); list[0].(object)["read"] != true {
			f.Errorf("read: %v", list)
		}
		task := f.ask(0, http.MethodGet, "/api/scheduled-task/"+id, "ana", nil, http.StatusOK)
		if task["status"] != "pending" || task["last_run"].(object)["status"] != "completed" {
			f.Errorf("the task: %v", task)
		}
	})
}

// While one run of a task goes on another is refused, and both the run and its task can be cancelled from any pod.
func TestCancelWhileItRuns(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		gate := make(chan struct{})
		defer close(gate)
		f.model.Otherwise(modeltest.Say("one", "two").Wait(gate))
		id := f.create(0, "ana", daily(object{"llm_config": nil}))
		f.ask(0, http.MethodPost, "/api/scheduled-task/"+id+"/run", "ana", nil, http.StatusOK)
		if got := f.ask(1, http.MethodPost, "/api/scheduled-task/"+id+"/run", "ana", nil, http.StatusConflict); got["reason"] != "TASK_STATE" {
			f.Errorf("run twice: %v", got)
		}
		if got := f.ask(1, http.MethodGet, "/api/scheduled-task/"+id, "ana", nil, http.StatusOK); got["status"] != "running" {
			f.Errorf("while it runs: %v", got)
		}
		f.ask(1, http.MethodPost, "/api/scheduled-task/"+id+"/cancel", "ana", nil, http.StatusOK)
		f.until(0, "ana", id, "cancelled")
		if list := f.ask(1, http.MethodGet, "/notifications", "ana", nil, http.StatusOK)["notifications"].([]any); len(list) != 0 {
			f.Errorf("who cancels is told of it: %v", list)
		}
	})
}

// In confirm mode each call waits for its user, whatever the user's settings are; the firing follows what is decided.
func TestConfirm(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		f.Gateways[0].RunEverything(f, "ana")
		f.model.Script(modeltest.Call("read_todos", `{}`), modeltest.Say("Done."))
		id := f.create(0, "ana", daily(object{"llm_config": nil, "run_mode": "confirm"}))
		f.ask(0, http.MethodPost, "/api/scheduled-task/"+id+"/run", "ana", nil, http.StatusOK)
		run := f.until(1, "ana", id, "interrupted")
		session := run["session_id"].(string)
		waits := f.ask(1, http.MethodGet, "/api/agent/sessions/"+session, "ana", nil, http.StatusOK)["interrupt"].(object)
		call := waits["tool_calls"].([]any)[0].(object)
		s := f.Gateways[1].Resume(f, "ana", object{"session_id": session, "tool_call_results": []object{
			{"tool_call_id": call["tool_call_id"], "tool_name": call["tool_name"], "decision": "approved"},
		}})
		s.All()
		f.until(0, "ana", id, "completed")
		list := f.ask(1, http.MethodGet, "/notifications", "ana", nil, http.StatusOK)["notifications"].([]any)
		if len(list) != 2 || list[1].(object)["status"] != "interrupted" || list[0].(object)["status"] != "completed" {
			f.Errorf("told: %v", list)
		}
	})
}

// A run that fails says why, in the record and to its user.
func TestARunThatFails(t *testing.T) {
	on(t, cluster.Options{}, func(f *fixture) {
		f.model.Otherwise(modeltest.Status(http.StatusUnauthorized, nil, `{"error":{"message":"no such key"}}`))
		tomorrow := time.Now().Add(48 * time.Hour).UTC().Format(time.DateOnly)
		id := f.create(0, "ana", daily(object{"llm_config": nil, "repeat_type": "none", "scheduled_date": tomorrow}))
		f.ask(1, http.MethodPost, "/api/scheduled-task/"+id+"/run", "ana", nil, http.StatusOK)
		run := f.until(0, "ana", id, "failed")
		list := f.ask(1, http.MethodGet, "/notifications", "ana", nil, http.StatusOK)["notifications"].([]any)
		if run["error"] == "" || len(list) != 1 || list[0].(object)["message"] != run["error"] {
			f.Errorf("%v, told %v", run, list)
		}
		if got := f.ask(1, http.MethodGet, "/api/scheduled-task/"+id, "ana", nil, http.StatusOK); got["status"] != "pending" || got["next_run_at"] == nil {
			f.Errorf("its own time is still to come: %v", got)
		}
	})
}
