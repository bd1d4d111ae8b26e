package cli

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/process/program"
)

// alone is the command that runs one service, as the service's own program would.
func alone[S program.Settings](p program.Program[S]) func(context.Context, Env) error {
	return func(ctx context.Context, e Env) error {
		var settings S
		if err := e.load(p.Name, &settings, nil); err != nil {
			return err
		}
		return p.Serve(ctx, settings, e.logger(settings.Process().Log), e.build())
	}
}
