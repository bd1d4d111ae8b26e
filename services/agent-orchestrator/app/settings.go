package app

import (
	"log/slog"

	"github.com/hecaton-dev/hecaton/pkg/process/program"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// Program is an agent-orchestrator as a program of its own.
var Program = program.Program[Settings]{
	Name: service,
	New: func(s Settings, log *slog.Logger, version string) (program.App, error) {
		return New(s.Config, Options{Logger: log, Version: version})
	},
	Headroom: Headroom,
}

// Headroom is how much garbage may gather between two collections, in bytes: a run that streams makes some 100 KiB a second,
// and a thousand of them have about as much in use as this.
const Headroom = 128 << 20

// Settings are the configuration of an agent-orchestrator that is a program of its own.
type Settings struct {
	Config
	Door auth.Door
}

// Validate refuses to believe callers from other machines who prove nothing.
func (s Settings) Validate() error { return s.Door.CheckBeyondLoopback(s.Services, s.GRPCAddr) }

// Process implements [program.Settings].
func (s Settings) Process() program.Process {
	return program.Process{AdminAddr: s.AdminAddr, Log: s.Log}
}
