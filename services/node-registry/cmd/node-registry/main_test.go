package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	program := func(args, environ []string) error { return app.Program.Run(t.Context(), args, environ, nil, version) }
	testkit.Healthcheck(t, program, "SERVICE_TOKEN=a-token-for-services")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := app.Program.Run(t.Context(), []string{"--help"}, nil, &out, version); !errors.Is(err, config.ErrHelp) || !strings.Contains(out.String(), "--admin-addr") {
		t.Errorf("%v: %s", err, &out)
	}
	if err := app.Program.Run(t.Context(), []string{"--grpc-adr", ":1"}, nil, &out, version); err == nil || !strings.Contains(err.Error(), "--grpc-addr") {
		t.Errorf("got %v", err)
	}
}
