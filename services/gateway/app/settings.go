package app

import (
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

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
