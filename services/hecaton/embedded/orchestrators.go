package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// reserve opens the ports of the orchestrators and knowledge services before the gateways start, since the gateways are told these
// ports. A port that was only chosen, and not opened, could be taken by another program meanwhile.
func (c *Cluster) reserve(ctx context.Context) (err error) {
	c.agents, err = listeners(ctx, c.opts.OrchestratorPorts, c.opts.Orchestrators, orchestratorName)
	if err == nil {
		c.bases, err = listeners(ctx, c.opts.KnowledgePorts, c.opts.Knowledge, knowledgeName)
	}
	if err != nil {
		c.release()
	}
	return err
}

// listeners opens the gRPC ports of n pods.
func listeners(ctx context.Context, ports Ports, n int, name func(i, n int) string) (open []net.Listener, err error) {
	for i := range n {
		addr := address(loopback, ports.plus(i).GRPC)
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			return open, failure(name(i, n), err, map[Role]string{RoleGRPC: addr})
		}
		open = append(open, listener)
	}
	return open, nil
}

// addresses are those of listeners, as other pods are told.
func addresses(open []net.Listener) string {
	var addrs []string
	for _, listener := range open {
		addrs = append(addrs, listener.Addr().String())
	}
	return strings.Join(addrs, ",")
}

// release closes the ports that no pod serves.
func (c *Cluster) release() {
	for _, listener := range slices.Concat(c.agents, c.bases) {
		_ = listener.Close() // one that was served is closed already
	}
}

func orchestratorName(i, n int) string {
	if n > 1 {
		return fmt.Sprintf("agent-orchestrator %d", i)
	}
	return "agent-orchestrator"
}

// startOrchestrators starts them one after the other: the first one migrates the database.
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
	cfg.GRPCAddr, cfg.AdminAddr = c.agents[i].Addr().String(), address(loopback, c.opts.OrchestratorPorts.plus(i).Admin)
	cfg.NATSURL, cfg.RedisURL, cfg.DrainDelay = c.nats(access.AgentOrchestrator), c.redis(access.AgentOrchestrator), 0
	cfg.DatabaseURL, cfg.BlobURL, cfg.SecretKeys = c.data.database, c.data.files, c.data.key
	cfg.KnowledgeAddr = addresses(c.bases)
	c.opts.Model.configure(&cfg)
	cfg.Addresses.Private = c.opts.Auth.Mode == auth.Trusted // who is on this machine may name its addresses
	cfg.MCPStdio = c.opts.MCPStdio
	cfg.Services, cfg.Trace = c.Services, c.opts.Trace
	if c.opts.Orchestrator != nil {
		c.opts.Orchestrator(i, &cfg)
	}
	name := orchestratorName(i, c.opts.Orchestrators)
	app, err := orchestrator.New(cfg, orchestrator.Options{Logger: c.opts.Logger, Version: c.opts.Version, GRPCListener: c.agents[i]})
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
