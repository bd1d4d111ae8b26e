package program_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/program"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// settings are those of a service that greets.
type settings struct {
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:":9180" help:"address of health"`
	Whom      string `conf:"whom" env:"WHOM" default:"world" help:"who is greeted"`
	Log       obs.LogConfig
}

func (s settings) Validate() error {
	if s.Whom == "nobody" {
		return errors.New("--whom must be somebody")
	}
	return nil
}

func (s settings) Process() program.Process {
	return program.Process{AdminAddr: s.AdminAddr, Log: s.Log}
}

// greeter greets, and waits for its end.
type greeter struct {
	settings
	log     *slog.Logger
	version string
	greeted chan struct{}
}

func (g *greeter) Run(ctx context.Context) error {
	g.log.Info("hello", "whom", g.Whom, "version", g.version)
	g.log.Debug("is it heard?")
	close(g.greeted)
	<-ctx.Done()
	return nil
}

func greeting(greeted chan struct{}) program.Program[settings] {
	return program.Program[settings]{
		Name: "greeter",
		New: func(s settings, log *slog.Logger, version string) (program.App, error) {
			if s.Whom == "ana" {
				return nil, errors.New("ana is not at home")
			}
			return &greeter{s, log, version, greeted}, nil
		},
	}
}

func TestServesUntilItIsStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	greeted, ended := make(chan struct{}), make(chan error, 1)
	var out bytes.Buffer // written by the service alone, and read after its end
	go func() {
		ended <- greeting(greeted).Run(ctx, []string{"--log-level", "debug"}, []string{"LOG_FORMAT=text", "WHOM=ben"}, &out, "v1")
	}()
	<-greeted
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, said := range []string{"level=INFO msg=hello whom=ben version=v1", `level=DEBUG msg="is it heard?"`} {
		if !strings.Contains(out.String(), said) {
			t.Errorf("the log has no %q: %s", said, &out)
		}
	}
}

func TestDoesNotStart(t *testing.T) {
	t.Parallel()
	for says, tt := range map[string]struct{ args, environ []string }{
		"--admin-addr":          {args: []string{"--admin-adr", ":1"}},
		"HECATON_CONFIG":        {environ: []string{"HECATON_CONFG=x"}},
		"--whom must be":        {args: []string{"--whom", "nobody"}},
		"ana is not at home":    {args: []string{"--whom", "ana"}},
		`"serve" is not expect`: {args: []string{"serve"}},
	} {
		err := greeting(nil).Run(t.Context(), tt.args, tt.environ, io.Discard, "v1")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want one that says %q", err, says)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := greeting(nil).Run(t.Context(), []string{"--help"}, nil, &out, "v1")
	if !errors.Is(err, config.ErrHelp) || !strings.Contains(out.String(), "greeter") || !strings.Contains(out.String(), "--whom") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	testkit.Healthcheck(t, func(args, environ []string) error {
		return greeting(nil).Run(t.Context(), args, environ, nil, "v1")
	})
}
