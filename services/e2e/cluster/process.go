package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// The environment of a child of a test binary that is one pod, and nothing else.
const (
	envRole   = "E2E_POD"
	envConfig = "E2E_POD_CONFIG" // its configuration by encoding/gob, which keeps secrets as they are, in base64
	envClock  = "E2E_POD_CLOCK"  // Options.Clock, in JSON
)

// Process is a pod in a process of its own, so that it can be killed. It ends with its test.
type Process struct{ cmd *exec.Cmd }

// Kill sends SIGKILL and waits until the process is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.cmd.Wait()         // killed, as asked
}

// Terminate sends SIGTERM and waits until the process is gone.
func (p *Process) Terminate(t testing.TB) {
	t.Helper()
	must(t, p.cmd.Process.Signal(syscall.SIGTERM))
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the pod's process ended with: %v", err)
	}
}

// Pause stops the process where it is (SIGSTOP): it keeps its connections and does nothing until Continue.
func (p *Process) Pause(t testing.TB) {
	t.Helper()
	must(t, p.cmd.Process.Signal(syscall.SIGSTOP))
}

// Continue ends a pause.
func (p *Process) Continue(t testing.TB) {
	t.Helper()
	must(t, p.cmd.Process.Signal(syscall.SIGCONT))
}

// StartGatewayProcess adds a gateway in a process of its own. The package's TestMain must be [Main].
func (c *Cluster) StartGatewayProcess() (*Gateway, *Process) {
	c.t.Helper()
	p, addrs := c.startProcess("gateway", c.GatewayConfig(len(c.Gateways)))
	g := &Gateway{HTTP: addrs[0], GRPC: addrs[1], Pod: Pod{Admin: addrs[2]}, Process: p}
	g.once.Do(func() {}) // there is nothing in this process to stop
	g.connect(c.t)
	c.Gateways = append(c.Gateways, g)
	return g, p
}

// RestartGatewayProcess ends gateway i as SIGTERM does, waits for its end, and starts another where it was, under the same
// configuration.
func (c *Cluster) RestartGatewayProcess(i int) {
	c.t.Helper()
	g := c.Gateways[i]
	g.Process.Terminate(c.t)
	cfg := c.GatewayConfig(i)
	cfg.HTTPAddr, cfg.GRPCAddr, cfg.AdminAddr = g.HTTP, g.GRPC, g.Admin
	g.Process, _ = c.startProcess("gateway", cfg)
}

// StartRegistryProcess adds a registry in a process of its own; gateways that start later know it.
func (c *Cluster) StartRegistryProcess() *Process {
	c.t.Helper()
	p, addrs := c.startProcess("registry", c.registryConfig(len(c.Registries), "127.0.0.1:0"))
	r := &Pod{Addr: addrs[0]}
	r.once.Do(func() {})
	c.Registries = append(c.Registries, r)
	return p
}

func (c *Cluster) startProcess(role string, cfg any) (*Process, []string) {
	c.t.Helper()
	var encoded bytes.Buffer
	must(c.t, gob.NewEncoder(&encoded).Encode(cfg))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envConfig+"="+base64.StdEncoding.EncodeToString(encoded.Bytes()), envClock+"="+c.opts.Clock.text())
	cmd.Stderr = os.Stderr
	life, err := cmd.StdinPipe() // closed with this process, however that ends
	must(c.t, err)
	out, err := cmd.StdoutPipe()
	must(c.t, err)
	must(c.t, cmd.Start())
	p := &Process{cmd: cmd}
	c.t.Cleanup(func() {
		p.Kill()
		_ = life.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	addrs, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	if err != nil || !ok {
		c.t.Fatalf("the %s's process said %q: %v", role, line, err)
	}
	return p, strings.Fields(addrs)
}

// runProcess runs a pod until the process is killed or told to end, or its parent is gone. It returns where this process is
// none.
func runProcess() {
	role := os.Getenv(envRole)
	if role == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	run := map[string]func() error{"gateway": runGateway, "registry": runRegistry, "orchestrator": runOrchestrator}[role]
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// readConfig reads the configuration that a parent gave.
func readConfig(cfg any) error {
	encoded, err := base64.StdEncoding.DecodeString(os.Getenv(envConfig))
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(encoded)).Decode(cfg)
}

func runGateway() error {
	var cfg gateway.Config
	if err := readConfig(&cfg); err != nil {
		return err
	}
	app, err := gateway.New(cfg, gateway.Options{Logger: logger()})
	if err != nil {
		return err
	}
	return serve(app.Run, app.Started(), func() []string { return []string{app.HTTPAddr(), app.GRPCAddr(), app.AdminAddr()} })
}

func runRegistry() error {
	var cfg registry.Config
	if err := readConfig(&cfg); err != nil {
		return err
	}
	app, err := registry.New(cfg, registry.Options{Logger: logger()})
	if err != nil {
		return err
	}
	return serve(app.Run, app.Started(), func() []string { return []string{app.GRPCAddr()} })
}

func runOrchestrator() error {
	var cfg orchestrator.Config
	if err := readConfig(&cfg); err != nil {
		return err
	}
	clock, err := readClock(os.Getenv(envClock))
	if err != nil {
		return err
	}
	app, err := orchestrator.New(cfg, orchestrator.Options{Logger: logger(), Version: "test", Now: clock.now()})
	if err != nil {
		return err
	}
	return serve(app.Run, app.Started(), func() []string { return []string{app.GRPCAddr(), app.AdminAddr()} })
}

func serve(run func(context.Context) error, started <-chan struct{}, addrs func() []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	select {
	case <-started:
		fmt.Fprintln(os.Stdout, "serving", strings.Join(addrs(), " "))
		return <-ended
	case err := <-ended:
		return errors.Join(errors.New("ended while it started"), err)
	case <-time.After(30 * time.Second):
		return errors.New("did not start")
	}
}
