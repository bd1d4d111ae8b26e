package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/faults"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/report"
)

// benchConfig is what load to make.
type benchConfig struct {
	Server   []string `conf:"server" env:"HECATON_SERVER" help:"URLs of gateways or of a load balancer, for nodes, runs and callers; a cluster in this process where empty"`
	GRPC     []string `conf:"grpc" help:"gateways' gRPC addresses, host:port: callers go there, not by REST"`
	Both     bool     `conf:"both" help:"with --grpc: every other call goes by REST all the same"`
	Gateways int      `conf:"gateways" default:"2" help:"how many gateways the cluster in this process has"`

	Users    int           `conf:"users" help:"how many users; 0: one for every five nodes"`
	Nodes    int           `conf:"nodes" default:"200" help:"how many simulated nodes, at most ten for each user"`
	Callers  int           `conf:"callers" default:"50" help:"how many callers, each with one call at a time"`
	Rate     float64       `conf:"rate" help:"calls that begin each second, over all callers; latency counts from when a call was meant to begin. 0: each caller calls as soon as it is answered"`
	Duration time.Duration `conf:"duration" default:"30s" help:"how long; with --faults as long as those take, and at least this long"`
	Payload  plan.Sizes    `conf:"payload" default:"200" help:"bytes of a call's arguments, such as 200,64KiB:0.05 for 64 KiB in one of twenty"`
	Answer   plan.Sizes    `conf:"answer" default:"200" help:"bytes of its answer, likewise"`
	Think    plan.Span     `conf:"think" default:"0" help:"how long a node works on a call, such as 5ms or 0-20ms"`
	Churn    float64       `conf:"churn" help:"nodes that leave and come back each second; calls in flight at them end unknown"`
	Slow     int           `conf:"slow" help:"web clients that ask for much and do not read"`
	Runs     int           `conf:"runs" help:"runs of agents kept going at once; the cluster's model must be the offline one"`
	Seed     uint64        `conf:"seed" help:"of users, nodes, payloads, choices and churn; 0: a new one, which the report names"`

	Faults   string        `conf:"faults" help:"YAML file of faults to happen one after the other under load: name, kind, do, hold, undo, settle, recover, lossless"`
	Calm     time.Duration `conf:"calm" default:"5s" help:"time before the first fault"`
	Timeout  time.Duration `conf:"timeout" default:"30s" help:"how long a caller waits for an answer"`
	Patience time.Duration `conf:"patience" default:"60s" help:"how long a call that is not delivered is tried again"`
	Connect  time.Duration `conf:"connect" default:"2m" help:"how long the nodes may take to connect at the beginning"`

	Out string `conf:"out" help:"directory for report.txt, report.json and latency.svg"`

	Secret   config.Secret `conf:"auth-secret" env:"JWT_SECRET" help:"the gateways' key of HS256 tokens, to mint one for each user; trusted mode where empty"`
	Issuer   string        `conf:"issuer" env:"JWT_ISSUER" help:"iss of the tokens"`
	Audience string        `conf:"audience" env:"JWT_AUDIENCE" help:"aud of the tokens"`
	Services auth.ServiceAuth
	Log      obs.LogConfig
}

// errBench says that a bench did not pass; why has been printed.
var errBench = errors.New("the bench did not pass")

func runBench(ctx context.Context, e Env) error {
	// What pods warn of in the time of a fault, the report counts.
	cfg := benchConfig{Log: obs.LogConfig{Level: slog.LevelError, Format: obs.Text}}
	if err := e.load("bench", &cfg, nil); err != nil {
		return err
	}
	o, err := cfg.options(e)
	if err != nil {
		return &usageError{err}
	}
	if cfg.Out != "" { // before the load, not after it
		if err := os.MkdirAll(cfg.Out, 0o750); err != nil {
			return err
		}
	}
	if len(o.Servers) == 0 {
		cluster, err := cfg.cluster(ctx, e)
		if err != nil {
			return err
		}
		defer func() { _ = cluster.Stop() }() // what went wrong in it, the report has
		o.Embedded = true
		for _, g := range cluster.Gateways {
			o.Servers = append(o.Servers, "http://"+g.HTTP)
		}
	}
	r, err := bench.Run(ctx, o)
	var wrong *bench.OptionsError
	switch {
	case errors.As(err, &wrong):
		return &usageError{err}
	case err != nil:
		return err
	}
	if err := cfg.write(e, r); err != nil {
		return err
	}
	if !r.Passed {
		return errBench
	}
	return nil
}

func (c benchConfig) options(e Env) (bench.Options, error) {
	o := bench.Options{
		Servers: c.Server, GRPC: c.GRPC, Both: c.Both, Token: c.tokens(),
		Plan: plan.Spec{
			Seed: c.Seed, Users: c.Users, Nodes: c.Nodes, Payload: c.Payload, Answer: c.Answer, Think: c.Think, Churn: c.Churn,
		},
		Callers: c.Callers, Rate: c.Rate, Duration: c.Duration, Calm: c.Calm, Timeout: c.Timeout, Patience: c.Patience, Connect: c.Connect,
		Slow: c.Slow, Runs: c.Runs, Progress: e.Stderr, Terminal: isTerminal(e.Stderr), Logger: e.logger(c.Log),
	}
	if o.Plan.Seed == 0 {
		o.Plan.Seed = rand.Uint64N(1e9) + 1
	}
	var err error
	if c.Faults != "" {
		if o.Faults, err = faults.Read(c.Faults); err != nil {
			return o, err
		}
	}
	if len(c.GRPC) > 0 {
		o.Dial, err = c.Services.DialOptions()
	}
	return o, err
}

// tokens mints a token for each user, once: a bench does not outlast it.
func (c benchConfig) tokens() func(user string) (string, error) {
	if c.Secret == "" {
		return func(string) (string, error) { return "", nil }
	}
	const lifetime = 7 * 24 * time.Hour
	var known sync.Map
	return func(user string) (string, error) {
		if token, ok := known.Load(user); ok {
			return token.(string), nil //nolint:forcetypeassert // nothing else is stored
		}
		token, err := auth.Mint(c.Secret.First(), auth.Claims{
			User: ids.UserID(user), Issuer: c.Issuer, Audience: c.Audience, Expires: time.Now().Add(lifetime),
		})
		if err == nil {
			known.Store(user, token)
		}
		return token, err
	}
}

// cluster starts a cluster in this process.
func (c benchConfig) cluster(ctx context.Context, e Env) (*embedded.Cluster, error) {
	o := embedded.Options{
		Gateways: c.Gateways, Model: embedded.Model{Offline: true}, Services: c.Services, Version: e.build(), Logger: e.logger(c.Log),
		Auth: auth.Config{Mode: auth.Trusted},
		// A few users make all the load: their limits are not what is measured.
		Gateway:      func(_ int, cfg *gateway.Config) { cfg.Limits = gateway.Config{}.Limits },
		Orchestrator: func(_ int, cfg *orchestrator.Config) { cfg.Limits = orchestrator.Limits{} },
	}
	if c.Secret != "" {
		o.Auth = auth.Config{Mode: auth.JWT, Secret: c.Secret, Issuer: c.Issuer, Audience: c.Audience}
	}
	return embedded.Start(ctx, o)
}

// write prints the report, and keeps it where that is wanted.
func (c benchConfig) write(e Env, r *report.Report) error {
	text := r.Text()
	if _, err := fmt.Fprint(e.Stdout, text); err != nil || c.Out == "" {
		return err
	}
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"report.txt": []byte(text), "report.json": raw, "latency.svg": r.SVG()} {
		if err := os.WriteFile(filepath.Join(c.Out, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// isTerminal reports whether somebody watches.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
