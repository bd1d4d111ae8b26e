package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// asPod makes this test binary an orchestrator: a process can be killed, a part of one cannot.
const asPod = "TEST_AS_ORCHESTRATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asPod) == "" {
		testkit.Main(m)
	}
	if err := runAsPod(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

func runAsPod() error {
	var cfg app.Config
	if err := config.Load(&cfg, config.Sources{Environ: os.Environ()}); err != nil {
		return err
	}
	a, err := app.New(cfg, app.Options{Logger: obs.NewLogger(os.Stdout, cfg.Log.Level, cfg.Log.Format)})
	if err != nil {
		return err
	}
	ctx, release := lifecycle.Signals(context.Background()) //nolint:forbidigo // a program of its own, started by a test
	defer release()
	return a.Run(ctx)
}

// process is an orchestrator that can be killed.
type process struct {
	addr string
	kill func() // without a word to anybody
}

// startProcess starts an orchestrator with this configuration as a process of its own.
func startProcess(t *testing.T, cfg app.Config) process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), self)
	cmd.Env = append(os.Environ(), asPod+"=1", "GRPC_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0",
		"DATABASE_URL="+cfg.DatabaseURL.Reveal(), "BLOB_URL="+cfg.BlobURL.Reveal(), "SECRET_KEYS="+cfg.SecretKeys.Reveal(),
		"NATS_URL="+cfg.NATSURL.Reveal(), "GATEWAYS="+strings.Join(cfg.Gateways, ","), "OPENAI_BASE_URL="+cfg.OpenAIURL,
		"OPENAI_MODEL="+cfg.OpenAIModel, "LEASE_TTL="+cfg.LeaseTTL.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	addr := ""
	for addr == "" && lines.Scan() {
		var line struct{ Msg, GRPC string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "agent-orchestrator serves" {
			addr = line.GRPC
		}
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() { // so that it never waits for its log
		}
	}()
	killed := false
	kill := func() {
		if killed {
			return
		}
		killed = true
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	if addr == "" {
		t.Fatal("the process does not serve")
	}
	return process{addr: addr, kill: kill}
}
