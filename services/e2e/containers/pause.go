//go:build integration

package containers

import (
	"context"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// Pause freezes the server's process: its connections stay open and nothing is answered, as on a machine that hangs.
func (c *Container) Pause() {
	c.t.Helper()
	c.engine(func(ctx context.Context, docker *testcontainers.DockerClient) error {
		_, err := docker.ContainerPause(ctx, c.docker.GetContainerID(), client.ContainerPauseOptions{})
		return err
	})
}

// Resume lets a paused server go on where it was.
func (c *Container) Resume() {
	c.t.Helper()
	c.engine(func(ctx context.Context, docker *testcontainers.DockerClient) error {
		_, err := docker.ContainerUnpause(ctx, c.docker.GetContainerID(), client.ContainerUnpauseOptions{})
		return err
	})
}

func (c *Container) engine(do func(context.Context, *testcontainers.DockerClient) error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		c.t.Fatalf("docker: %v", err)
	}
	defer docker.Close()
	if err := do(ctx, docker); err != nil {
		c.t.Fatalf("%s: %v", c.URL(), err)
	}
}
