package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

const (
	// drainSpread is short: there is no other pod that reconnecting clients could overload. No load balancer has to notice
	// a drain either, so no pod has a drain delay.
	drainSpread = 100 * time.Millisecond
	// stopTimeout leaves room for the gateways' own.
	stopTimeout = 2 * time.Minute
)

func (c *Cluster) startRegistry(ctx context.Context) (*pod, error) {
	var cfg registry.Config
	if err := config.Defaults(&cfg); err != nil {
		return nil, err
	}
	cfg.PodName = "registry-0"
	cfg.GRPCAddr, cfg.AdminAddr = address(loopback, c.opts.RegistryPorts.GRPC), address(loopback, c.opts.RegistryPorts.Admin)
	cfg.RedisURL, cfg.NATSURL, cfg.DrainDelay = c.redis(access.NodeRegistry), c.nats(access.NodeRegistry), 0
	cfg.Services, cfg.Trace = c.Services, c.opts.Trace
	app, err := registry.New(cfg, registry.Options{Logger: c.opts.Logger, Version: c.opts.Version})
	if err != nil {
		return nil, fmt.Errorf("node-registry: %w", err)
	}
	p, err := begin(ctx, "node-registry", app, map[Role]string{RoleGRPC: cfg.GRPCAddr, RoleAdmin: cfg.AdminAddr})
	if err != nil {
		return nil, err
	}
	c.Registry = Service{GRPC: app.GRPCAddr(), Admin: app.AdminAddr()}
	return p, nil
}

// startGateways starts them one after the other, so that a port in use is reported for the first gateway that needs it.
func (c *Cluster) startGateways(ctx context.Context) (pods []*pod, err error) {
	for i := range c.opts.Gateways {
		p, err := c.startGateway(ctx, i)
		if err != nil {
			return nil, errors.Join(err, stopAll(pods))
		}
		pods = append(pods, p)
	}
	return pods, nil
}

func (c *Cluster) startGateway(ctx context.Context, i int) (*pod, error) {
	var cfg gateway.Config
	if err := config.Defaults(&cfg); err != nil {
		return nil, err
	}
	ports := c.opts.Ports.plus(i)
	cfg.PodName = fmt.Sprintf("gateway-%d", i)
	cfg.HTTPAddr, cfg.GRPCAddr = address(c.opts.Host, ports.HTTP), address(c.opts.Host, ports.GRPC)
	cfg.AdminAddr = address(loopback, ports.Admin)
	cfg.PeerAddr, cfg.PeerName = address(loopback, 0), loopback
	cfg.NATSURL, cfg.RegistryAddr = c.nats(access.Gateway), "passthrough:///"+c.Registry.GRPC
	cfg.Auth, cfg.Pages, cfg.Services, cfg.Trace = c.opts.Auth, c.opts.Pages, c.Services, c.opts.Trace
	cfg.OrchestratorAddr, cfg.KnowledgeAddr = addresses(c.agents), addresses(c.bases)
	cfg.MCPKeys = c.data.mcpKey
	cfg.DrainSpread, cfg.DrainDelay = drainSpread, 0
	if c.opts.Gateway != nil {
		c.opts.Gateway(i, &cfg)
	}
	name := fmt.Sprintf("gateway %d", i)
	app, err := gateway.New(cfg, gateway.Options{Logger: c.opts.Logger, Version: c.opts.Version})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := begin(ctx, name, app, map[Role]string{RoleHTTP: cfg.HTTPAddr, RoleGRPC: cfg.GRPCAddr, RoleAdmin: cfg.AdminAddr})
	if err != nil {
		return nil, err
	}
	c.Gateways = append(c.Gateways, Gateway{
		ID: app.ID(), HTTP: reachable(app.HTTPAddr()), GRPC: reachable(app.GRPCAddr()), Admin: app.AdminAddr(),
	})
	return p, nil
}

// begin starts a pod and waits until it is ready.
func begin(ctx context.Context, name string, app runner, ports map[Role]string) (*pod, error) {
	p, err := launch(ctx, name, app, ports)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}
