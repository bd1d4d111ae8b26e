package app

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/allowlist"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/memory"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func (a *App) openStore(ctx context.Context) (err error) {
	if a.store, err = store.Open(ctx, store.Options{
		URL: a.cfg.DatabaseURL, Allowed: allowlist.NewUser(), Logger: a.log, Metrics: a.metrics, Tracing: a.tracing,
	}); err != nil {
		return err
	}
	a.ready.Watch("store", a.store.Check)
	return nil
}

func (a *App) closeStore(context.Context) error { return a.store.Close() }

func (a *App) openFiles(ctx context.Context) (err error) {
	if url := a.cfg.RedisURL.Reveal(); url != "" {
		if a.redis, err = redisclient.Open(url, a.cfg.RedisTLS); err != nil {
			return err
		}
		redisclient.Measure(a.metrics, service, a.redis)
		redisclient.Trace(a.tracing, a.redis)
	}
	a.files, err = workspace.Open(ctx, workspace.Options{
		URL: a.cfg.files().Reveal(), MaxBytes: int64(a.cfg.MaxFile),
		Quota: workspace.Quota{Files: a.cfg.Limits.Files, Bytes: int64(a.cfg.Limits.FileBytes)}, Redis: a.redis, Logger: a.log,
	})
	if err != nil {
		return errors.Join(err, a.closeRedis())
	}
	a.memories = memory.NewKeeper(a.store)
	a.skills, err = skill.NewLibrary(skill.Options{
		Store: a.store, Files: a.files.Area(workspace.SkillsArea), Quota: int64(a.cfg.Limits.FileBytes), Logger: a.log,
	})
	if err != nil {
		return errors.Join(err, a.files.Close(), a.closeRedis())
	}
	return nil
}

func (a *App) closeFiles(context.Context) error { return errors.Join(a.files.Close(), a.closeRedis()) }

func (a *App) closeRedis() error {
	if a.redis == nil {
		return nil
	}
	return a.redis.Close()
}

// openBus waits for the bus: later it may go and come back.
func (a *App) openBus(ctx context.Context) (err error) {
	if a.cfg.NATSURL == "" {
		return nil
	}
	a.bus, err = bus.Connect(ctx, bus.Options{
		URL: a.cfg.NATSURL.Reveal(), Name: "agent-orchestrator " + a.cfg.PodName, Service: access.AgentOrchestrator,
		CredsFile: a.cfg.NATSCreds, TLS: a.cfg.NATSTLS, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.bus.Measure(a.metrics, service)
	return nil
}

func (a *App) closeBus(context.Context) error {
	if a.bus != nil {
		a.bus.Close()
	}
	return nil
}

func (a *App) openLive(context.Context) (err error) {
	a.live, err = live.New(live.Options{Store: a.store, Bus: a.bus, Logger: a.log})
	return err
}

func (a *App) closeLive(ctx context.Context) error {
	a.live.Close(ctx)
	return nil
}
