package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func aTask(id string, next time.Time) store.ScheduledTask {
	now := time.UnixMilli(time.Now().UnixMilli())
	return store.ScheduledTask{
		ID: id, User: "ana", Title: "t", Prompt: "p", Rule: []byte(`{"Kind":"daily"}`), RunMode: "auto", Notify: []string{"in_app"}, Run: []byte{0, 1},
		State: store.ScheduleActive, Next: next, Created: now, Updated: now,
	}
}

func aFiring(task string, at time.Time, status store.FiringStatus) store.ScheduledRun {
	id := task + at.String()
	return store.ScheduledRun{ID: id, Task: task, User: "ana", FiredFor: at, Session: "s", Status: status}
}

func aNotification(id string, channels ...string) store.Notification {
	return store.Notification{
		ID: id, User: "ana", Task: "t", Title: "title", Status: store.FiringCompleted, Message: "m", Shown: len(channels) == 0,
		Created: time.UnixMilli(time.Now().UnixMilli()), Channels: channels,
	}
}

func TestScheduledTasks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		ctx, next := t.Context(), time.UnixMilli(1_800_000_000_000)
		for i := range 5 {
			task := aTask(fmt.Sprint("task", i), next)
			task.Created = next.Add(time.Duration(i) * time.Second)
			must(t, here.CreateScheduledTask(ctx, task), nil)
		}
		must(t, there.CreateScheduledTask(ctx, aTask("task0", next)), errs.NameTaken)
		got, err := there.ScheduledTask(ctx, "ana", "task3")
		if must(t, err, nil); got.Title != "t" || string(got.Run) != "\x00\x01" || got.Notify[0] != "in_app" || !got.Next.Equal(next) || got.Last != nil || got.Running {
			t.Errorf("%+v", got)
		}
		_, err = there.ScheduledTask(ctx, "bob", "task3")
		must(t, err, errs.TaskNotFound)
		var ids []string
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			list, total, next, err := there.ScheduledTasks(ctx, "ana", 2, cursor)
			if must(t, err, nil); total != 5 {
				t.Errorf("%d in all", total)
			}
			for _, task := range list {
				ids = append(ids, task.ID)
			}
			cursor = next
		}
		if fmt.Sprint(ids) != "[task4 task3 task2 task1 task0]" {
			t.Errorf("listed %v", ids)
		}
		_, _, _, err = here.ScheduledTasks(ctx, "ana", 2, "lies")
		must(t, err, errs.InvalidArgument)
		_, err = here.ChangeScheduledTask(ctx, "ana", "task1", func(task *store.ScheduledTask) error {
			task.State, task.Next = store.SchedulePaused, time.Time{}
			return nil
		})
		must(t, err, nil)
		if got, _ = there.ScheduledTask(ctx, "ana", "task1"); got.State != store.SchedulePaused || !got.Next.IsZero() {
			t.Errorf("%+v", got)
		}
		must(t, here.DeleteScheduledTask(ctx, "bob", "task1"), errs.TaskNotFound)
		must(t, here.DeleteScheduledTask(ctx, "ana", "task1"), nil)
		must(t, there.DeleteScheduledTask(ctx, "ana", "task1"), errs.TaskNotFound)
	})
}

// Of several pods one makes the firings of a task that is due, and one begins each.
func TestFiringsAreOneOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := []*store.Store{open(), open(), open()}
		ctx, due := t.Context(), time.UnixMilli(1_800_000_000_000)
		const tasks = 20
		for i := range tasks {
			must(t, pods[0].CreateScheduledTask(ctx, aTask(fmt.Sprint("task", i), due)), nil)
		}
		if list, err := pods[0].ClaimDue(ctx, due.Add(-time.Second), time.Minute, 10); err != nil || len(list) != 0 {
			t.Fatalf("%d are due too early: %v", len(list), err)
		}
		var mu sync.Mutex
		fired := map[string]int{}
		var all sync.WaitGroup
		for _, pod := range pods {
			all.Go(func() {
				for {
					list, err := pod.ClaimDue(ctx, due, time.Minute, 3)
					if err != nil {
						t.Error(err)
					}
					if len(list) == 0 {
						return
					}
					for _, task := range list {
						done, err := pod.Fire(ctx, task, []store.ScheduledRun{
							aFiring(task.ID, due.Add(-time.Hour), store.FiringMissed), aFiring(task.ID, due, store.FiringPending),
						}, due.Add(24*time.Hour), -time.Second, nil)
						if err != nil || !done {
							t.Errorf("%t, %v", done, err)
						}
						mu.Lock()
						fired[task.ID]++
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		begun := map[string]int{}
		for _, pod := range pods {
			all.Go(func() {
				for {
					list, err := pod.ClaimPending(ctx, time.Minute, 3)
					if err != nil {
						t.Error(err)
					}
					if len(list) == 0 {
						return
					}
					mu.Lock()
					for _, r := range list {
						begun[r.Task]++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if len(fired) != tasks || len(begun) != tasks {
			t.Errorf("fired %v, begun %v", fired, begun)
		}
		for task, n := range fired {
			if n != 1 || begun[task] != 1 {
				t.Errorf("%s: fired %d times, begun %d times", task, n, begun[task])
			}
		}
		runs, next, err := pods[1].ScheduledRuns(ctx, "ana", "task7", 1, "")
		if must(t, err, nil); len(runs) != 1 || runs[0].Status != store.FiringPending || next == "" {
			t.Errorf("%+v, %q", runs, next)
		}
		if runs, _, err = pods[1].ScheduledRuns(ctx, "ana", "task7", 1, next); err != nil || len(runs) != 1 || runs[0].Status != store.FiringMissed {
			t.Errorf("%+v, %v", runs, err)
		}
		task, err := pods[2].ScheduledTask(ctx, "ana", "task7")
		if must(t, err, nil); !task.Running || task.Last == nil || task.Last.Status != store.FiringPending {
			t.Errorf("%+v", task)
		}
	})
}

// Who has read a task before it was changed makes no firing of it, so that a paused task does not fire.
func TestAChangedTaskIsNotFired(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, ctx, due := open(), t.Context(), time.UnixMilli(1_800_000_000_000)
		must(t, s.CreateScheduledTask(ctx, aTask("a", due)), nil)
		list, err := s.ClaimDue(ctx, due, time.Minute, 10)
		if must(t, err, nil); len(list) != 1 {
			t.Fatal(list)
		}
		_, err = s.ChangeScheduledTask(ctx, "ana", "a", func(task *store.ScheduledTask) error {
			task.State, task.Next = store.SchedulePaused, time.Time{}
			return nil
		})
		must(t, err, nil)
		done, err := s.Fire(ctx, list[0], []store.ScheduledRun{aFiring("a", due, store.FiringPending)}, due.Add(time.Hour), time.Minute, nil)
		if must(t, err, nil); done {
			t.Error("it was fired")
		}
		if open, err := s.OpenRun(ctx, "a"); err != nil || open != nil {
			t.Errorf("%+v, %v", open, err)
		}
	})
}

func TestFireNowIsAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, ctx, at := open(), t.Context(), time.UnixMilli(1_800_000_000_000)
		task := aTask("a", at.Add(time.Hour))
		must(t, s.CreateScheduledTask(ctx, task), nil)
		r := aFiring("a", at, store.FiringPending)
		must(t, s.FireNow(ctx, r, time.Minute), nil)
		must(t, s.FireNow(ctx, aFiring("a", at.Add(time.Second), store.FiringPending), time.Minute), errs.TaskState)
		r.Status, r.Run, r.Started = store.FiringRunning, "run", at
		done, err := s.Step(ctx, r, []store.FiringStatus{store.FiringPending}, false, nil)
		if must(t, err, nil); !done {
			t.Error("not begun")
		}
		if done, err = s.Step(ctx, r, []store.FiringStatus{store.FiringPending}, false, nil); err != nil || done {
			t.Errorf("begun twice: %v", err)
		}
		moved, err := s.MovedRuns(ctx, at, 10)
		if must(t, err, nil); len(moved) != 1 || !moved[0].Gone {
			t.Errorf("%+v", moved)
		}
	})
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, ctx, at := open(), t.Context(), time.UnixMilli(1_800_000_000_000)
		must(t, s.CreateScheduledTask(ctx, aTask("a", at)), nil)
		r := aFiring("a", at, store.FiringPending)
		must(t, s.FireNow(ctx, r, time.Minute), nil)
		r.Status = store.FiringFailed
		shown, mailed := aNotification("n1"), aNotification("n2", "email")
		done, err := s.Step(ctx, r, []store.FiringStatus{store.FiringPending}, false, []store.Notification{shown, mailed})
		if must(t, err, nil); !done {
			t.Fatal("no step")
		}
		list, _, err := s.Notifications(ctx, "ana", 0, "")
		if must(t, err, nil); len(list) != 1 || list[0].ID != "n1" || list[0].Read || list[0].Message != "m" {
			t.Errorf("%+v", list)
		}
		must(t, s.ReadNotification(ctx, "bob", "n1"), errs.NotificationNotFound)
		must(t, s.ReadNotification(ctx, "ana", "n1"), nil)
		if list, _, err = s.Notifications(ctx, "ana", 0, ""); err != nil || !list[0].Read {
			t.Errorf("%+v, %v", list, err)
		}
		due, err := s.ClaimDeliveries(ctx, time.Minute, 10)
		if must(t, err, nil); len(due) != 1 || due[0].ID != "n2" || due[0].Channel != "email" || due[0].Attempts != 1 {
			t.Fatalf("%+v", due)
		}
		if again, err := s.ClaimDeliveries(ctx, time.Minute, 10); err != nil || len(again) != 0 {
			t.Errorf("%+v, %v", again, err)
		}
		must(t, s.DeliverLater(ctx, due[0], -time.Second), nil)
		if due, err = s.ClaimDeliveries(ctx, time.Minute, 10); err != nil || len(due) != 1 || due[0].Attempts != 2 {
			t.Fatalf("%+v, %v", due, err)
		}
		must(t, s.Delivered(ctx, due[0]), nil)
		must(t, s.DeliverLater(ctx, due[0], -time.Second), nil)
		if due, err = s.ClaimDeliveries(ctx, time.Minute, 10); err != nil || len(due) != 0 {
			t.Errorf("%+v, %v", due, err)
		}
	})
}

// A user's list keeps the newest.
func TestOldNotificationsAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, ctx, at := open(), t.Context(), time.UnixMilli(1_800_000_000_000)
		must(t, s.CreateScheduledTask(ctx, aTask("a", at)), nil)
		due, err := s.ClaimDue(ctx, at, time.Minute, 1)
		must(t, err, nil)
		var told []store.Notification
		for i := range store.MaxNotifications + 3 {
			n := aNotification(fmt.Sprintf("n%04d", i))
			n.Created = at.Add(time.Duration(i) * time.Millisecond)
			told = append(told, n)
		}
		if done, err := s.Fire(ctx, due[0], nil, at.Add(time.Hour), 0, told); err != nil || !done {
			t.Fatal(done, err)
		}
		n, last := 0, ""
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			list, next, err := s.Notifications(ctx, "ana", 200, cursor)
			must(t, err, nil)
			for _, one := range list {
				n, last = n+1, one.ID
			}
			cursor = next
		}
		if n != store.MaxNotifications || last != "n0003" {
			t.Errorf("%d are kept, to %s", n, last)
		}
	})
}
