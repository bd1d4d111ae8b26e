package app

import (
	"context"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/tokens"
)

// startTokens makes the tokens good that users have made for their programs, where there is an orchestrator that keeps them.
func (a *App) startTokens(context.Context) (err error) {
	if a.agents == nil {
		return nil
	}
	a.book, err = tokens.New(tokens.Options{Store: agentv1.NewTokenServiceClient(a.agents), Bus: a.bus, Logger: a.log})
	if err != nil {
		return err
	}
	a.auth.UseBook(a.book)
	return nil
}

func (a *App) stopTokens(context.Context) error {
	if a.book != nil {
		a.book.Close()
	}
	return nil
}
