package app

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/mail"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/schedule"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

func (a *App) startSchedule(ctx context.Context) (err error) {
	channels := map[string]schedule.Channel{}
	if url := a.cfg.SMTP.Reveal(); url != "" {
		if channels[schedule.Email], err = mail.New(url); err != nil {
			return err
		}
	}
	a.schedule, err = schedule.New(schedule.Options{
		Store: a.store, Engine: a.engine, Sealer: a.box, Cancelled: a.live.PokeCancel, Check: grpcapi.CheckInvoke, Push: a.pushNotification,
		Channels: channels, Now: a.now, DecideWithin: a.cfg.ApprovalTTL, Logger: a.log,
	})
	if err != nil {
		return err
	}
	return a.schedule.Start(ctx)
}

func (a *App) stopSchedule(ctx context.Context) error { return a.schedule.Stop(ctx) }

// pushNotification shows a notification to the user's web clients. One that is not connected finds it in the list.
func (a *App) pushNotification(n store.Notification) {
	if a.bus == nil {
		return
	}
	if err := a.bus.Publish(bus.WebSubject(n.User), schedule.Frame(n)); err != nil {
		a.log.Warn("a notification is only in its user's list", "error", err)
	}
}
