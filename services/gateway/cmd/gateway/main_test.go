package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/app"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// The front door is checked, so the back door must not stand open unless somebody says so.
func TestWhoMayReachGRPC(t *testing.T) {
	t.Parallel()
	nats := testkit.NATS(t)
	base := []string{
		"--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--peer-addr", "127.0.0.1:0",
		"--nats-url", nats, "--jwt-secret", strings.Repeat("s", 32),
	}
	for name, tt := range map[string]struct {
		args    []string
		environ []string
		refused bool
	}{
		"jwt, gRPC open":         {refused: true},
		"jwt, open on purpose":   {args: []string{"--open-services"}},
		"jwt, open on purpose 2": {environ: []string{"OPEN_SERVICES=true"}},
		"jwt, a service token":   {environ: []string{"SERVICE_TOKEN=a-token-for-services"}},
		"trusted":                {args: []string{"--auth-mode", "trusted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			out := &firstWords{serves: make(chan string, 1)}
			ended := make(chan error, 1)
			go func() { ended <- app.Program.Run(ctx, append(tt.args, base...), tt.environ, out, version) }()
			if tt.refused {
				if err := <-ended; err == nil || !strings.Contains(err.Error(), "--open-services") {
					t.Errorf("got %v", err)
				}
				return
			}
			select {
			case addr := <-out.serves:
				healthy(t, addr)
			case err := <-ended:
				t.Fatalf("it ended: %v", err)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	program := func(args, environ []string) error { return app.Program.Run(t.Context(), args, environ, nil, version) }
	testkit.Healthcheck(t, program, "JWT_SECRET="+strings.Repeat("s", 32), "SERVICE_TOKEN=a-token-for-services")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := app.Program.Run(t.Context(), []string{"--help"}, nil, &out, version); !errors.Is(err, config.ErrHelp) || !strings.Contains(out.String(), "--open-services") {
		t.Errorf("%v: %s", err, &out)
	}
	err := app.Program.Run(t.Context(), []string{"--http-adr", ":1"}, []string{"HECATON_CONFG=x"}, &out, version)
	if err == nil || !strings.Contains(err.Error(), "--http-addr") || !strings.Contains(err.Error(), "HECATON_CONFIG") {
		t.Errorf("got %v", err)
	}
}

// firstWords waits for the line that says where the gateway serves.
type firstWords struct{ serves chan string }

// Write implements io.Writer; slog calls it for one line at a time.
func (w *firstWords) Write(p []byte) (int, error) {
	var line struct{ Msg, GRPC string }
	if json.Unmarshal(p, &line) == nil && line.Msg == "gateway serves" {
		w.serves <- line.GRPC
	}
	return len(p), nil
}

// healthy asks without a token, as a probe does.
func healthy(t *testing.T, addr string) {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	res, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil || res.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", res, err)
	}
}
