package app

import "github.com/hecaton-dev/hecaton/pkg/security/auth"

// Settings are the configuration of an agent-orchestrator that is a program of its own.
type Settings struct {
	Config
	Door auth.Door
}

// Validate refuses to believe callers from other machines who prove nothing.
func (s Settings) Validate() error { return s.Door.CheckBeyondLoopback(s.Services, s.GRPCAddr) }
