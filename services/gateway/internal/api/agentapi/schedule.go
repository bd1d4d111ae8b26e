package agentapi

import (
	"crypto/subtle"
	"net/http"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// maxTask bounds the body of a scheduled task, in bytes.
const maxTask = 256 << 10

// scheduleRoutes adds the endpoints of scheduled tasks and notifications, with and without /api. A token that may only run agents may read
// them: a task would outlast it.
func (a *API) scheduleRoutes(mux *http.ServeMux, guard edge.Guard) {
	for _, root := range []string{"/api", ""} {
		mux.Handle("POST "+root+"/scheduled-task", guard.User(auth.Everything, maxTask, a.createTask))
		mux.Handle("PATCH "+root+"/scheduled-task/{id}", guard.User(auth.Everything, maxTask, a.updateTask))
		mux.Handle("POST "+root+"/scheduled-task/sync", http.HandlerFunc(a.syncTask))
		for _, path := range []string{"/scheduled-task", "/scheduled-task/", "/notifications", "/notifications/"} {
			mux.Handle("GET "+root+path, guard.User(auth.RunAgents, edge.NoBody, a.bothWays))
			mux.Handle(root+path, guard.User(auth.Everything, edge.Small, a.bothWays))
		}
	}
}

// taskBody is a scheduled task as a client writes it.
type taskBody struct {
	task    *agentv1.ScheduledTask
	run     *agentv1.InvokeRequest // how its runs are begun
	members []string               // those that the body has
}

// readTask reads a task from a JSON object.
func readTask(body []byte) (taskBody, error) {
	b := taskBody{task: &agentv1.ScheduledTask{}, run: &agentv1.InvokeRequest{}}
	if !jsonrpc.IsObject(body) {
		return b, bad("a task must be a JSON object")
	}
	var wanted invokeBody
	if err := edge.DecodeBody(body, &wanted); err != nil {
		return b, err
	}
	var err error
	if b.run.Model, err = model(wanted.Model); err != nil {
		return b, err
	}
	if b.run.Tools, err = toolSources(wanted.Tools); err != nil {
		return b, err
	}
	if b.run.Skills, err = skillSelection(wanted.Skills); err != nil {
		return b, err
	}
	if err := restJSON.Unmarshal(body, b.task); err != nil {
		return b, bad("%s", blame(err.Error(), body))
	}
	b.task.LlmConfig, b.task.Tools, b.task.Skills = nil, nil, nil // in run, of which the store keeps the secrets sealed
	jsonrpc.Members(body, func(name, _ []byte) { b.members = append(b.members, string(name)) })
	if !slices.Contains(b.members, "notify") {
		b.task.Notify = []string{"in_app"}
	}
	return b, nil
}

func (a *API) createTask(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	body, err := edge.ReadJSON(r)
	if err != nil {
		return err
	}
	b, err := readTask(body)
	if err != nil {
		return err
	}
	resp, err := a.schedule.CreateScheduledTask(auth.OnBehalf(r.Context(), user), &agentv1.CreateScheduledTaskRequest{Task: b.task, Run: b.run})
	if err != nil {
		return err
	}
	return answerTask(w, http.StatusCreated, resp.GetTask())
}

func (a *API) updateTask(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	body, err := edge.ReadJSON(r)
	if err != nil {
		return err
	}
	b, err := readTask(body)
	if err != nil {
		return err
	}
	resp, err := a.schedule.UpdateScheduledTask(auth.OnBehalf(r.Context(), user), &agentv1.UpdateScheduledTaskRequest{
		Id: r.PathValue("id"), Task: b.task, Run: b.run, Changed: b.members,
	})
	if err != nil {
		return err
	}
	return answerTask(w, http.StatusOK, resp.GetTask())
}

func answerTask(w http.ResponseWriter, code int, task *agentv1.ScheduledTask) error {
	shown, err := restJSON.Marshal(task)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(shown) // the client may be gone
	return nil
}

// syncTask mirrors a task of a program that keeps its users' tasks itself. It comes with a secret in place of a user.
func (a *API) syncTask(w http.ResponseWriter, r *http.Request) {
	err := a.admitSync(r)
	if err == nil {
		err = a.mirrorTask(w, r)
	}
	if err != nil {
		problem(err).Write(w)
	}
}

// internalSecret is the header with which such a program shows that it may.
const internalSecret = "X-Internal-Secret"

func (a *API) admitSync(r *http.Request) error {
	want, got := a.cfg.InternalSecret, r.Header.Get(internalSecret)
	if want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1 {
		return nil
	}
	return a.cfg.Limits.Refused(r, &auth.Error{Kind: auth.Unauthenticated, Message: internalSecret + " is not the secret of this server"})
}

func (a *API) mirrorTask(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxTask)
	body, err := edge.ReadJSON(r)
	if err != nil {
		return err
	}
	if !jsonrpc.IsObject(body) {
		return bad("the body must be a JSON object")
	}
	req := &agentv1.SyncScheduledTaskRequest{
		Action: jsonrpc.StringMember(body, "action"), TaskId: jsonrpc.StringMember(body, "task_id"),
	}
	if task := jsonrpc.RawMembers(body, "task")["task"]; !jsonrpc.IsNull(task) {
		b, err := readTask(task)
		if err != nil {
			return bad("task: %s", err.Error())
		}
		req.Task, req.Run, req.UserId = b.task, b.run, jsonrpc.StringMember(task, "user_id")
	} else if req.Action != "remove" {
		return bad("task is required, an object, where action is not remove")
	}
	resp, err := a.schedule.SyncScheduledTask(r.Context(), req)
	switch {
	case status.Code(err) == codes.Unimplemented:
		return bad("this server's orchestrators keep no tasks")
	case err != nil:
		return err
	}
	edge.JSON(w, http.StatusOK, map[string]any{"success": resp.GetSuccess(), "action": resp.GetAction(), "task_id": resp.GetTaskId()})
	return nil
}
