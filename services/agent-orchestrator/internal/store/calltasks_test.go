package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// A task changes until it is over, and no further; what a user may keep is bounded.
func TestCallTasks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		ctx := t.Context()
		now := time.UnixMilli(time.Now().UnixMilli())
		task := func(id string, ttl time.Duration) store.CallTask {
			return store.CallTask{ID: id, User: "ana", Owner: "o", Node: "n", Status: store.TaskWorking, Sent: true, Created: now, Updated: now, Expires: now.Add(ttl)}
		}
		must(t, here.CreateCallTask(ctx, task("gone", -time.Second)), nil)
		for i := range store.MaxCallTasks {
			must(t, here.CreateCallTask(ctx, task(fmt.Sprint(i), time.Hour)), nil)
		}
		must(t, there.CreateCallTask(ctx, task("one more", time.Hour)), errs.LimitReached)
		must(t, here.KeepCallTasks(ctx, []string{"0", "1", "nobody's"}), nil)
		got, found, err := there.CallTask(ctx, "ana", "0")
		if must(t, err, nil); !found || got.Status != store.TaskWorking || got.Owner != "o" || got.Node != "n" || !got.Sent || !got.Expires.Equal(now.Add(time.Hour)) {
			t.Errorf("%t %+v", found, got)
		}
		for user, id := range map[string]string{"bob": "0", "ana": "gone"} {
			if _, found, err := there.CallTask(ctx, task(id, 0).User, id); id == "gone" && (found || err != nil) {
				t.Errorf("%s's %s: %t %v", user, id, found, err)
			}
		}
		over := task("0", 0)
		over.Status, over.Result = store.TaskCompleted, bytes.Repeat([]byte(" "), store.MaxTaskBytes-10)
		if kept, err := there.ChangeCallTask(ctx, over); err != nil || !kept {
			t.Fatalf("%t, %v", kept, err)
		}
		_, err = here.ChangeCallTask(ctx, over)
		if over.Result = nil; err != nil { // no room for the second, which is all that is said of it
			t.Errorf("%v", err)
		}
		_, err = here.ChangeCallTask(ctx, over)
		must(t, err, errs.NotInterrupted)
		full := task("1", 0)
		full.Status, full.Result = store.TaskCompleted, []byte(`{"long":true}`)
		if kept, err := here.ChangeCallTask(ctx, full); err != nil || kept {
			t.Errorf("there is room: %t, %v", kept, err)
		}
		if got, _, err := here.CallTask(ctx, "ana", "0"); err != nil || got.Status != store.TaskCompleted || len(got.Result) != store.MaxTaskBytes-10 {
			t.Errorf("%v %d %v", got.Status, len(got.Result), err)
		}
	})
}
