package auth_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

func TestDoor(t *testing.T) {
	t.Parallel()
	open, closed := auth.ServiceAuth{}, auth.ServiceAuth{Token: serviceToken}
	for name, tt := range map[string]struct {
		door     auth.Door
		services auth.ServiceAuth
		addr     string
		refused  bool // everywhere
		beyond   bool // refused beyond loopback
	}{
		"open, to all":              {services: open, addr: ":9090", refused: true, beyond: true},
		"open, to all by name":      {services: open, addr: "0.0.0.0:9090", refused: true, beyond: true},
		"open, to all by IPv6":      {services: open, addr: "[::]:9090", refused: true, beyond: true},
		"open, to a network":        {services: open, addr: "10.0.0.1:9090", refused: true, beyond: true},
		"open, to a name":           {services: open, addr: "registry.example:9090", refused: true, beyond: true},
		"open, to what is no port":  {services: open, addr: "127.0.0.1", refused: true, beyond: true},
		"open, to this machine":     {services: open, addr: "127.0.0.1:9090", refused: true},
		"open, to this machine 2":   {services: open, addr: "127.8.0.1:0", refused: true},
		"open, to this machine 3":   {services: open, addr: "[::1]:9090", refused: true},
		"open, to this machine 4":   {services: open, addr: "localhost:9090", refused: true},
		"a service token":           {services: closed, addr: ":9090"},
		"mutual TLS":                {services: auth.ServiceAuth{Cert: "c", Key: "k", CA: "a"}, addr: ":9090"},
		"open on purpose":           {door: auth.Door{Open: true}, services: open, addr: ":9090"},
		"closed, and said to be so": {door: auth.Door{Open: true}, services: closed, addr: ":9090"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tt.door.Check(tt.services); (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "--open-services") {
				t.Errorf("got %v", err)
			}
			if err := tt.door.CheckBeyondLoopback(tt.services, tt.addr); (err != nil) != tt.beyond || err != nil && !strings.Contains(err.Error(), tt.addr) {
				t.Errorf("at %s: %v", tt.addr, err)
			}
		})
	}
	var d auth.Door
	if err := config.Load(&d, config.Sources{Environ: []string{"OPEN_SERVICES=true"}}); err != nil || !d.Open {
		t.Errorf("%v, %v", d, err)
	}
}
