package app

import (
	"log/slog"

	"github.com/hecaton-dev/hecaton/pkg/process/program"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// Program is a knowledge service as a program of its own.
var Program = program.Program[Settings]{
	Name: service,
	New: func(s Settings, log *slog.Logger, version string) (program.App, error) {
		return New(s.Config, Options{Logger: log, Version: version})
	},
}

// Settings are the configuration of a knowledge service that is a program of its own.
type Settings struct {
	Config
	Door auth.Door
}

// Validate refuses a port that other machines reach and that asks for no credentials.
func (s Settings) Validate() error { return s.Door.CheckBeyondLoopback(s.Services, s.GRPCAddr) }

// Process implements [program.Settings].
func (s Settings) Process() program.Process {
	return program.Process{AdminAddr: s.AdminAddr, Log: s.Log}
}
