package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	servers "github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// Cluster is a running cluster. Its fields do not change.
type Cluster struct {
	Gateways      []Gateway
	Registry      Service
	Orchestrators []Service
	Knowledge     []Service
	// NATSURL and RedisURL are the servers in use, without credentials if they run in this process.
	NATSURL, RedisURL config.Secret
	// DataDir is the directory in use.
	DataDir string
	// Services is what the gRPC ports ask for: Options.Services, or a token of the cluster's own.
	Services auth.ServiceAuth

	opts   Options
	nats   urls // set before the pods start, like the next two
	redis  urls
	data   *data
	agents []net.Listener // where the orchestrators will serve; set before the gateways start
	bases  []net.Listener // likewise the knowledge services
	cancel context.CancelFunc
	done   chan struct{} // closed when everything has stopped
	err    error         // static once done is closed
}

// Gateway is where this machine reaches one gateway, as host:port.
type Gateway struct {
	// ID is its name in the registry.
	ID                string
	HTTP, GRPC, Admin string
}

// Service is where this machine reaches another pod, as host:port.
type Service struct{ GRPC, Admin string }

// urls returns the URL of a server with the credentials of a service. Servers of this process have new credentials at each
// start, which are known to this process only.
type urls func(access.Service) config.Secret

// Start starts a cluster and returns when all of it is ready. ctx bounds the starting; Stop ends the cluster.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Cluster{opts: o, cancel: cancel, done: make(chan struct{})}
	ctx, late := context.WithTimeoutCause(ctx, o.StartTimeout, fmt.Errorf("the cluster was not ready within %v", o.StartTimeout))
	defer late()
	giveUp := context.AfterFunc(ctx, cancel)
	started := make(chan struct{})
	go func() {
		defer close(c.done)
		c.err = c.run(life, started)
	}()
	select {
	case <-started:
		if !giveUp() {
			return nil, errors.Join(context.Cause(ctx), c.Stop())
		}
		return c, nil
	case <-c.done:
		cancel()
		return nil, errors.Join(c.err, context.Cause(ctx))
	}
}

// Stop drains and stops the cluster. It returns when everything has ended, with the errors of the cluster's life and end.
func (c *Cluster) Stop() error {
	c.cancel()
	<-c.done
	return c.err
}

// Done is closed when the cluster has ended, by Stop or because a pod failed; Stop then says why.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// run starts the parts in the order in which they depend on each other, and stops them in reverse.
func (c *Cluster) run(ctx context.Context, started chan<- struct{}) error {
	var problem error // of the starting, which the group forgets where it was told to stop meanwhile
	starts := func(f func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			problem = f(ctx)
			return problem
		}
	}
	g := &lifecycle.Group{Logger: c.opts.Logger.With("service", "hecaton"), StopTimeout: stopTimeout}
	var registry *pod
	var gateways, orchestrators, knowledge []*pod
	var stopNATS, stopRedis func()
	g.Add("data", starts(func(context.Context) error { return c.openData() }), func(context.Context) error { return c.data.close() })
	g.Add("ports", starts(c.reserve), func(context.Context) error { c.release(); return nil })
	g.Add("nats", starts(func(context.Context) (err error) { stopNATS, err = c.startNATS(); return err }),
		func(context.Context) error { stopNATS(); return nil })
	g.Add("redis", starts(func(context.Context) (err error) { stopRedis, err = c.startRedis(); return err }),
		func(context.Context) error { stopRedis(); return nil })
	g.Add("registry", starts(func(ctx context.Context) (err error) { registry, err = c.startRegistry(ctx); return err }),
		func(context.Context) error { return registry.stop() })
	g.Add("knowledge", starts(func(ctx context.Context) (err error) { knowledge, err = c.startKnowledge(ctx); return err }),
		func(context.Context) error { return stopAll(knowledge) })
	g.Add("gateways", starts(func(ctx context.Context) (err error) { gateways, err = c.startGateways(ctx); return err }),
		func(context.Context) error { return stopAll(gateways) })
	g.Add("orchestrators", starts(func(ctx context.Context) (err error) { orchestrators, err = c.startOrchestrators(ctx); return err }),
		func(context.Context) error { return stopAll(orchestrators) })
	g.Go("pods", func(ctx context.Context) error {
		return watch(ctx, slices.Concat([]*pod{registry}, knowledge, orchestrators, gateways))
	}, nil)
	g.Add("started", func(context.Context) error { close(started); return nil }, nil)
	err := g.Run(ctx)
	if err == nil {
		return problem
	}
	return err
}

// watch returns when a pod has ended that nobody stopped.
func watch(ctx context.Context, pods []*pod) error {
	ended := make(chan *pod, len(pods))
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	for _, p := range pods {
		watching.Go(func() {
			select {
			case <-p.ended:
				ended <- p
			case <-ctx.Done():
			}
		})
	}
	select {
	case p := <-ended:
		return fmt.Errorf("%s has ended by itself: %w", p.name, errors.Join(p.err, errors.New("the cluster stops")))
	case <-ctx.Done():
		return nil
	}
}

// stopAll stops pods at the same time.
func stopAll(pods []*pod) error {
	errs := make([]error, len(pods))
	var stopping sync.WaitGroup
	for i, p := range pods {
		stopping.Go(func() { errs[i] = p.stop() })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

func (c *Cluster) startNATS() (stop func(), err error) {
	if c.NATSURL = c.opts.NATSURL; c.NATSURL != "" {
		c.nats = func(access.Service) config.Secret { return c.NATSURL }
		return func() {}, nil
	}
	s, err := servers.StartNATS("127.0.0.1:0", servers.Admission{Passwords: access.RandomPasswords()})
	if err != nil {
		return nil, err
	}
	c.NATSURL = config.Secret(s.URL())
	c.nats = func(service access.Service) config.Secret { return config.Secret(s.URLFor(service)) }
	return s.Close, nil
}

func (c *Cluster) startRedis() (stop func(), err error) {
	if c.RedisURL = c.opts.RedisURL; c.RedisURL != "" {
		c.redis = func(access.Service) config.Secret { return c.RedisURL }
		return func() {}, nil
	}
	s, err := servers.StartRedis("127.0.0.1:0", access.RandomPasswords())
	if err != nil {
		return nil, err
	}
	c.RedisURL = config.Secret(s.URL())
	// It shares the processors of this process: slow is not gone.
	c.redis = func(service access.Service) config.Secret {
		return config.Secret(s.URLFor(service) + "?read_timeout=10s")
	}
	return s.Close, nil
}
