package app

import (
	"fmt"
	"log/slog"

	"github.com/hecaton-dev/hecaton/pkg/process/heap"
	"github.com/hecaton-dev/hecaton/pkg/process/program"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// Program is a gateway as a program of its own.
var Program = program.Program[Settings]{
	Name: service,
	New: func(s Settings, log *slog.Logger, version string) (program.App, error) {
		return New(s.Config, Options{Logger: log, Version: version})
	},
	Headroom: heap.Headroom,
}

// Settings are the configuration of a gateway that is a program of its own.
type Settings struct {
	Config
	Door auth.Door
}

// Validate refuses to check the users at the front door while the back door is open, be it to this machine alone.
func (s Settings) Validate() error {
	if s.Auth.Mode != auth.JWT {
		return nil
	}
	if err := s.Door.Check(s.Services); err != nil {
		return fmt.Errorf("with --auth-mode jwt, %w", err)
	}
	return nil
}

// Process implements [program.Settings].
func (s Settings) Process() program.Process {
	return program.Process{AdminAddr: s.AdminAddr, Log: s.Log}
}
