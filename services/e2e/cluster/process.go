package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/config"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// The environment of a child of a test binary that is one pod, and nothing else.
const (
	envRole     = "E2E_POD"
	envNATS     = "E2E_POD_NATS"
	envRedis    = "E2E_POD_REDIS"
	envRegistry = "E2E_POD_REGISTRY"
)

// Process is a pod that is a process of its own, so that it can be killed without a word.
type Process struct{ cmd *exec.Cmd }

// Kill sends SIGKILL and waits until the process is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.cmd.Wait()         // killed, as asked
}

// StartGatewayProcess adds a gateway in a process of its own. The package's TestMain must be [Main].
func (c *Cluster) StartGatewayProcess() (*Gateway, *Process) {
	c.t.Helper()
	p, addrs := c.startProcess("gateway")
	g := &Gateway{HTTP: addrs[0], GRPC: addrs[1], Admin: addrs[2]}
	g.once.Do(func() {}) // there is nothing in this process to stop
	g.connect(c.t)
	c.Gateways = append(c.Gateways, g)
	return g, p
}

// StartRegistryProcess adds a registry in a process of its own; gateways that start later know it.
func (c *Cluster) StartRegistryProcess() *Process {
	c.t.Helper()
	p, addrs := c.startProcess("registry")
	r := &Pod{Addr: addrs[0]}
	r.once.Do(func() {})
	c.Registries = append(c.Registries, r)
	return p
}

func (c *Cluster) startProcess(role string) (*Process, []string) {
	c.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envNATS+"="+c.opts.NATSURL, envRedis+"="+c.opts.RedisURL, envRegistry+"="+c.registryTarget())
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

// runProcess runs a pod until the process is killed or its parent is gone. It returns where this process is none.
func runProcess() {
	role := os.Getenv(envRole)
	if role == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	run := map[string]func() error{"gateway": runGateway, "registry": runRegistry}[role]
	fmt.Fprintln(os.Stderr, role, run())
	os.Exit(1)
}

func runGateway() error {
	var cfg gateway.Config
	if err := config.Defaults(&cfg); err != nil {
		return err
	}
	cfg.PodName = "gateway-process"
	cfg.HTTPAddr, cfg.GRPCAddr, cfg.AdminAddr, cfg.PeerAddr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.NATSURL, cfg.RegistryAddr = config.Secret(os.Getenv(envNATS)), os.Getenv(envRegistry)
	cfg.Auth.Mode = auth.Trusted
	app, err := gateway.New(cfg, gateway.Options{})
	if err != nil {
		return err
	}
	return serve(app.Run, app.Started(), func() { fmt.Fprintln(os.Stdout, "serving", app.HTTPAddr(), app.GRPCAddr(), app.AdminAddr()) })
}

func runRegistry() error {
	var cfg registry.Config
	if err := config.Defaults(&cfg); err != nil {
		return err
	}
	cfg.PodName, cfg.GRPCAddr, cfg.AdminAddr = "registry-process", "127.0.0.1:0", "127.0.0.1:0"
	cfg.RedisURL, cfg.NATSURL = config.Secret(os.Getenv(envRedis)), config.Secret(os.Getenv(envNATS))
	app, err := registry.New(cfg, registry.Options{})
	if err != nil {
		return err
	}
	return serve(app.Run, app.Started(), func() { fmt.Fprintln(os.Stdout, "serving", app.GRPCAddr()) })
}

func serve(run func(context.Context) error, started <-chan struct{}, announce func()) error {
	ended := make(chan error, 1)
	go func() { ended <- run(context.Background()) }()
	select {
	case <-started:
		announce()
		return <-ended
	case err := <-ended:
		return errors.Join(errors.New("ended while it started"), err)
	case <-time.After(30 * time.Second):
		return errors.New("did not start")
	}
}
