package app_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// Without authentication an orchestrator serves everybody who reaches its gRPC port, so it does not listen beyond this machine unless
// --open-services says so.
func TestGRPCWithoutAuthentication(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args    []string
		refused bool
	}{
		"open":                 {refused: true},
		"open to this machine": {args: []string{"--grpc-addr", "127.0.0.1:9091"}},
		"open on purpose":      {args: []string{"--open-services"}},
		"a service token":      {args: []string{"--service-token", "a-token-for-services"}},
		"mutual TLS":           {args: []string{"--service-tls-cert", "c.pem", "--service-tls-key", "k.pem", "--service-tls-ca", "ca.pem"}},
	} {
		args := append([]string{"--database-url", "sqlite:///x", "--blob-url", "file:///x", "--secret-keys", "x"}, tt.args...)
		var s app.Settings
		err := config.Load(&s, config.Sources{Args: args})
		if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "--open-services") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
