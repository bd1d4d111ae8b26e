package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// The ways to tell users.
const (
	InApp  = "in_app"
	Email  = "email"
	Feishu = "feishu"
)

// messageBytes is how much of an answer a notification has.
const messageBytes = 2000

// notification is what a task's user is told of a firing; nothing where the user wants to hear nothing, or has cancelled it.
func (s *Scheduler) notification(t store.ScheduledTask, r store.ScheduledRun, message string) []store.Notification {
	if len(t.Notify) == 0 || r.Status == store.FiringCancelled {
		return nil
	}
	n := store.Notification{
		ID: uuid.NewString(), User: t.User, Task: t.ID, Title: t.Title, Status: r.Status, Message: tool.FirstWords(message, messageBytes),
		Shown: slices.Contains(t.Notify, InApp), Created: time.UnixMilli(s.Now().UnixMilli()),
	}
	if r.Status != store.FiringMissed {
		n.Session = r.Session
	}
	for _, channel := range t.Notify {
		if channel != InApp && s.Channels[channel] != nil {
			n.Channels = append(n.Channels, channel)
		}
	}
	if !n.Shown && len(n.Channels) == 0 {
		return nil
	}
	return []store.Notification{n}
}

// push shows what was told to clients that are connected. Others find it in the list.
func (s *Scheduler) push(told []store.Notification) {
	for _, n := range told {
		if n.Shown {
			s.Push(n)
		}
	}
}

const (
	// deliverHold is how long one attempt may take, after which another pod makes the next.
	deliverHold = time.Minute
	// mostAttempts are made, over about a day and a half, each twice as long after the one before.
	mostAttempts = 12
	firstWait    = 30 * time.Second
)

// deliver sends what is due.
func (s *Scheduler) deliver(ctx context.Context) (more bool, err error) {
	due, err := s.Store.ClaimDeliveries(ctx, deliverHold, atOnce)
	for _, d := range due {
		if err := s.send(ctx, d); err != nil {
			return false, err
		}
	}
	return len(due) == atOnce, err
}

func (s *Scheduler) send(ctx context.Context, d store.Delivery) error {
	channel := s.Channels[d.Channel]
	if channel == nil { // not configured any more
		return s.Store.Delivered(ctx, d)
	}
	attempt, cancel := context.WithTimeout(ctx, deliverHold/2)
	defer cancel()
	err := channel.Send(attempt, d.Notification)
	switch {
	case err == nil:
		return s.Store.Delivered(ctx, d)
	case ctx.Err() != nil:
		return err
	case d.Attempts >= mostAttempts:
		s.Logger.ErrorContext(ctx, "a notification is given up", "channel", d.Channel, "task", d.Task, "error", err)
		return s.Store.Delivered(ctx, d)
	}
	s.Logger.WarnContext(ctx, "a notification could not be sent; it is tried again", "channel", d.Channel, "task", d.Task, "error", err)
	return s.Store.DeliverLater(ctx, d, firstWait<<(d.Attempts-1))
}
