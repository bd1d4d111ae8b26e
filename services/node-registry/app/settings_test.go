package app_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// Without authentication a registry serves everybody who reaches its gRPC port, so it does not listen beyond this machine unless
// --open-services says so.
func TestGRPCWithoutAuthentication(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args    []string
		refused bool
	}{
		"open":                  {refused: true},
		"open to a network":     {args: []string{"--grpc-addr", "10.0.0.1:9090"}, refused: true},
		"open to this machine":  {args: []string{"--grpc-addr", "127.0.0.1:9090"}},
		"open on purpose":       {args: []string{"--open-services"}},
		"a service token":       {args: []string{"--service-token", "a-token-for-services"}},
		"a token of two bytes":  {args: []string{"--service-token", "ab"}, refused: true},
		"a certificate, no key": {args: []string{"--service-tls-cert", "c.pem"}, refused: true},
		"mutual TLS":            {args: []string{"--service-tls-cert", "c.pem", "--service-tls-key", "k.pem", "--service-tls-ca", "ca.pem"}},
	} {
		var s app.Settings
		err := config.Load(&s, config.Sources{Args: tt.args})
		if (err != nil) != tt.refused {
			t.Errorf("%s: %v", name, err)
		}
		if len(tt.args) == 0 && (err == nil || !strings.Contains(err.Error(), "--grpc-addr :9090") || !strings.Contains(err.Error(), "--open-services")) {
			t.Errorf("%s: it says %v", name, err)
		}
	}
}
