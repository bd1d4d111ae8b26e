package app

import (
	"context"
	"net/http"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/toolapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect/zeus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// dialects are the client protocols that every gateway serves. A new one is one line here.
var dialects = []dialect.Dialect{
	zeus.Dialect,
}

// clients are the kinds of clients of the dialects.
func (a *App) clients() (kinds []string) {
	for _, d := range a.spoken {
		for _, k := range d.Kinds {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

func (a *App) startDialects(context.Context) (err error) {
	a.dialects, err = dialect.New(dialect.Config{
		Env: dialect.Env{Auth: a.auth, Limits: a.limits, Router: a.router, Fanout: a.fanout, Logger: a.log},
		Hub: a.hub, Holder: a.holder, Pictures: a.front.pictures, Metrics: a.counts, Draining: a.ready.Draining,
		Problem: func(w http.ResponseWriter, err error) { edge.NewProblem(err, nil).Write(w) },
		Conn: conn.Config{
			MaxFrame: int64(a.cfg.MaxFrame), MaxQueued: int(a.cfg.WriteQueue), WriteTimeout: a.cfg.WriteTimeout,
			MaxControlRate: a.cfg.FrameRate, Budget: a.budget,
		},
	}, a.spoken...)
	return err
}

// workflows are those of the dialect that has them; nil where none has.
func (a *App) workflows() toolapi.Workflows {
	for _, p := range a.dialects.Protocols() {
		if w, ok := p.(toolapi.Workflows); ok {
			return w
		}
	}
	return nil
}
