//go:build integration

package containers

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
	"github.com/testcontainers/testcontainers-go"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

const (
	startWithin = 2 * time.Minute // an image may have to be pulled
	readyWithin = 30 * time.Second
	stopWithin  = 10 * time.Second
)

// Container is a server in a container of one test's own. Its methods belong to the test's goroutine: they end the test on
// failure.
type Container struct {
	t      testing.TB
	docker *testcontainers.DockerContainer
	addr   string
	scheme string
	user   string // "name@" where the URL names one
	answer func(ctx context.Context, url string) error
}

// Redis starts a Redis without persistence: stopped and started again, it is empty. It ends with the test.
func Redis(t testing.TB) *Container {
	t.Helper()
	c := &Container{t: t, scheme: "redis", answer: pingRedis}
	c.run("redis:8.0", "6379/tcp", "redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no")
	return c
}

// NATS starts a NATS server with its defaults. It ends with the test.
func NATS(t testing.TB) *Container {
	t.Helper()
	c := &Container{t: t, scheme: "nats", answer: connectNATS}
	c.run("nats:2.15", "4222/tcp")
	return c
}

// Postgres starts a PostgreSQL that lets everybody in: stopped and started again, it has what it had. It ends with the test.
func Postgres(t testing.TB) *Container {
	t.Helper()
	c := &Container{t: t, scheme: "postgres", user: "postgres@", answer: pingPostgres}
	c.run("postgres:17", "5432/tcp")
	return c
}

// run creates the container on a port chosen here: one that Docker chose would change with every start.
func (c *Container) run(image, port string, cmd ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), startWithin)
	defer cancel()
	hostPort := strconv.Itoa(testkit.FreePort())
	docker, err := testcontainers.Run(ctx, image,
		testcontainers.WithCmd(cmd...),
		testcontainers.WithEnv(map[string]string{"POSTGRES_HOST_AUTH_METHOD": "trust"}), // which only one of them reads
		testcontainers.WithExposedPorts(port),
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{network.MustParsePort(port): {{
				HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: hostPort,
			}}}
		}))
	testcontainers.CleanupContainer(c.t, docker, testcontainers.StopTimeout(0))
	if err != nil {
		c.t.Fatalf("container %s: %v", image, err)
	}
	host, err := docker.Host(ctx)
	if err != nil {
		c.t.Fatalf("container %s: where is it: %v", image, err)
	}
	c.docker, c.addr = docker, net.JoinHostPort(host, hostPort)
	c.awaitAnswer()
}

// URL is the server's URL (redis://, nats:// or postgres://), the same before and after a restart.
func (c *Container) URL() string { return c.scheme + "://" + c.user + c.addr }

// Stop ends the server as an orchestrator would: SIGTERM, then SIGKILL after 10 s.
func (c *Container) Stop() {
	c.t.Helper()
	within := stopWithin
	if err := c.docker.Stop(c.t.Context(), &within); err != nil {
		c.t.Fatalf("stop %s: %v", c.URL(), err)
	}
}

// Start brings a stopped server back under the same URL and returns when it answers.
func (c *Container) Start() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), startWithin)
	defer cancel()
	if err := c.docker.Start(ctx); err != nil {
		c.t.Fatalf("start %s: %v", c.URL(), err)
	}
	c.awaitAnswer()
}

// awaitAnswer waits for the protocol, not for the port: Docker's proxy accepts before the server does.
func (c *Container) awaitAnswer() {
	c.t.Helper()
	var last error
	defer func() {
		if last != nil {
			c.t.Logf("%s: %v", c.URL(), last)
		}
	}()
	testkit.Eventually(c.t, readyWithin, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		last = c.answer(ctx, c.URL())
		return last == nil
	}, "%s answers", c.URL())
}

func pingRedis(ctx context.Context, url string) error {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return err
	}
	client := redis.NewClient(opts)
	defer client.Close()
	return client.Ping(ctx).Err()
}

func pingPostgres(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func connectNATS(_ context.Context, url string) error {
	conn, err := nats.Connect(url, nats.Timeout(time.Second))
	if err != nil {
		return err
	}
	conn.Close()
	return nil
}
