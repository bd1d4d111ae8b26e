package schedule

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// ListNotifications implements ScheduleService.
func (s *Scheduler) ListNotifications(ctx context.Context, req *agentv1.ListNotificationsRequest) (*agentv1.ListNotificationsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err == nil {
		err = checkLimit(req.GetLimit())
	}
	if err != nil {
		return nil, err
	}
	list, next, err := s.Store.Notifications(ctx, user, int(req.GetLimit()), req.GetCursor())
	if err != nil {
		return nil, err
	}
	resp := &agentv1.ListNotificationsResponse{NextCursor: next}
	for _, n := range list {
		resp.Notifications = append(resp.Notifications, &agentv1.Notification{
			Id: n.ID, TaskId: n.Task, Title: n.Title, Read: n.Read, Status: string(n.Status), Message: n.Message, SessionId: string(n.Session),
			CreatedAt: moment(n.Created),
		})
	}
	return resp, nil
}

// ReadNotification implements ScheduleService.
func (s *Scheduler) ReadNotification(ctx context.Context, req *agentv1.ReadNotificationRequest) (*agentv1.ReadNotificationResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err == nil {
		err = s.Store.ReadNotification(ctx, user, req.GetId())
	}
	return &agentv1.ReadNotificationResponse{Success: err == nil}, err
}
