package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"

	"github.com/hecaton-dev/hecaton/pkg/access"
	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/config"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// reserve chooses where the orchestrators will serve: the gateways, which start first, are told.
func (c *Cluster) reserve() {
	for i := range c.opts.Orchestrators {
		port := c.opts.OrchestratorPorts.plus(i).GRPC
		if port == 0 {
			port = freePort()
		}
		c.agents = append(c.agents, address(loopback, port))
	}
}

// freePort returns a port that nobody listens on just now. It is none of those that the system hands out by itself, from
// 32768 on: nobody gets it by chance before it is used.
func freePort() int {
	for {
		port := 12000 + rand.IntN(8000)
		listener, err := net.Listen("tcp", address(loopback, port))
		if err == nil {
			_ = listener.Close() // it was only a question
			return port
		}
	}
}

// startOrchestrators starts them one after the other: the first brings the database up to date.
func (c *Cluster) startOrchestrators(ctx context.Context) (pods []*pod, err error) {
	for i := range c.opts.Orchestrators {
		p, err := c.startOrchestrator(ctx, i)
		if err != nil {
			return nil, errors.Join(err, stopAll(pods))
		}
		pods = append(pods, p)
	}
	return pods, nil
}

func (c *Cluster) startOrchestrator(ctx context.Context, i int) (*pod, error) {
	var cfg orchestrator.Config
	for _, g := range c.Gateways {
		cfg.Gateways = append(cfg.Gateways, g.GRPC)
	}
	if err := config.Defaults(&cfg); err != nil {
		return nil, err
	}
	cfg.PodName = fmt.Sprintf("orchestrator-%d", i)
	cfg.GRPCAddr, cfg.AdminAddr = c.agents[i], address(loopback, c.opts.OrchestratorPorts.plus(i).Admin)
	cfg.NATSURL, cfg.RedisURL, cfg.DrainDelay = c.nats(access.AgentOrchestrator), c.redis(access.AgentOrchestrator), 0
	cfg.DatabaseURL, cfg.BlobURL, cfg.SecretKeys = c.data.database, c.data.files, c.data.key
	c.opts.Model.configure(&cfg)
	cfg.Addresses.Private = c.opts.Auth.Mode == auth.Trusted // who is on this machine may name its addresses
	cfg.MCPStdio = c.opts.MCPStdio
	cfg.Services, cfg.Trace = c.Services, c.opts.Trace
	if c.opts.Orchestrator != nil {
		c.opts.Orchestrator(i, &cfg)
	}
	name := "agent-orchestrator"
	if c.opts.Orchestrators > 1 {
		name = fmt.Sprintf("%s %d", name, i)
	}
	app, err := orchestrator.New(cfg, orchestrator.Options{Logger: c.opts.Logger, Version: c.opts.Version})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := begin(ctx, name, app, map[Role]string{RoleGRPC: cfg.GRPCAddr, RoleAdmin: cfg.AdminAddr})
	if err != nil {
		return nil, err
	}
	c.Orchestrators = append(c.Orchestrators, Service{GRPC: app.GRPCAddr(), Admin: app.AdminAddr()})
	return p, nil
}

// configure makes m the model of an orchestrator.
func (m Model) configure(cfg *orchestrator.Config) {
	if m.IsOffline() {
		cfg.LLM = orchestrator.LLMOffline
		return
	}
	cfg.OpenAIURL, cfg.OpenAIKey, cfg.OpenAIModel, cfg.OpenAIWindow = m.BaseURL, m.Key, m.Name, m.Window
}
