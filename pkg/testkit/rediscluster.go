package testkit

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

// RedisCluster is a Redis Cluster of three masters, each with a replica.
type RedisCluster struct {
	t     testing.TB
	nodes []*clusterNode // the masters first
}

type clusterNode struct {
	addr   string
	bus    int // the port at which nodes speak to each other
	cmd    *exec.Cmd
	client *redis.Client // as the one who may do everything
}

// NewRedisCluster starts a Redis Cluster for this test alone. On a machine without redis-server the test is skipped.
func NewRedisCluster(t testing.TB) *RedisCluster {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("TEST_REQUIRE_REAL") == "1" {
			t.Fatal("testkit: TEST_REQUIRE_REAL=1, and redis-server is not on this machine")
		}
		t.Skip("a Redis Cluster needs redis-server")
	}
	used.add("redis cluster", "redis-server on this machine")
	c := &RedisCluster{t: t}
	for range 6 {
		c.nodes = append(c.nodes, startClusterNode(t, bin))
	}
	ctx := t.Context()
	first := c.nodes[0]
	for i, n := range c.nodes {
		// Fresh nodes have the same configuration epoch; the conflict would be noticed only after a while.
		c.must(n.client.Do(ctx, "cluster", "set-config-epoch", i+1).Err())
		if i > 0 {
			host, port, err := net.SplitHostPort(first.addr)
			c.must(err)
			c.must(n.client.Do(ctx, "cluster", "meet", host, port, first.bus).Err())
		}
	}
	const slots = 16384
	for i := range 3 {
		c.must(c.nodes[i].client.ClusterAddSlotsRange(ctx, i*slots/3, (i+1)*slots/3-1).Err())
	}
	c.all("cluster_known_nodes:6")
	for i, n := range c.nodes[3:] {
		id := c.nodes[i].client.ClusterMyID(ctx).Val()
		Eventually(t, 20*time.Second, func() bool { return n.client.ClusterReplicate(ctx, id).Err() == nil }, "a replica follows")
	}
	c.all("cluster_state:ok")
	for _, n := range c.nodes[3:] {
		Eventually(t, 30*time.Second, func() bool {
			return strings.Contains(n.client.Info(ctx, "replication").Val(), "master_link_status:up")
		}, "a replica has what its master has")
	}
	return c
}

// all waits until every node says so of the cluster.
func (c *RedisCluster) all(said string) {
	c.t.Helper()
	for _, n := range c.nodes {
		Eventually(c.t, 30*time.Second, func() bool {
			return strings.Contains(n.client.ClusterInfo(c.t.Context()).Val(), said)
		}, "%s says %s", n.addr, said)
	}
}

func (c *RedisCluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("testkit: %v", err)
	}
}

func startClusterNode(t testing.TB, bin string) *clusterNode {
	t.Helper()
	port, bus := FreePort(), FreePort()
	dir := t.TempDir()
	args := []string{
		"--port", strconv.Itoa(port), "--bind", loopback, "--dir", dir, "--save", "", "--appendonly", "no",
		"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus), "--cluster-config-file", filepath.Join(dir, "nodes.conf"), "--cluster-node-timeout", "1000",
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}
	for _, s := range access.Services {
		args = append(args, "--user", string(s), "on", ">"+admission.Passwords[s])
		args = append(args, strings.Fields(s.Redis().Rules())...)
	}
	n := &clusterNode{addr: net.JoinHostPort(loopback, strconv.Itoa(port)), bus: bus, cmd: exec.Command(bin, args...)}
	if err := n.cmd.Start(); err != nil {
		t.Fatalf("testkit: %v", err)
	}
	n.client = redis.NewClient(&redis.Options{Addr: n.addr})
	t.Cleanup(func() {
		_ = n.client.Close()
		n.kill()
	})
	Eventually(t, 10*time.Second, func() bool { return n.client.Ping(t.Context()).Err() == nil }, "redis-server at %s", n.addr)
	return n
}

// kill ends the process, once.
func (n *clusterNode) kill() {
	_ = n.cmd.Process.Kill() // it may be gone already
	_ = n.cmd.Wait()         // it was killed; how it exits says nothing
}

// URL is that of the cluster for somebody who may do everything.
func (c *RedisCluster) URL() string {
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = n.addr
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// URLFor is URL with the name and the password of a service.
func (c *RedisCluster) URLFor(s access.Service) string {
	user := url.UserPassword(string(s), admission.Passwords[s]).String()
	return strings.Replace(c.URL(), "://", "://"+user+"@", 1)
}

// KillMaster kills master i of three. Its replica takes over a second or two later.
func (c *RedisCluster) KillMaster(i int) { c.nodes[i].kill() }

// TakenOver reports whether the replica of master i has taken over.
func (c *RedisCluster) TakenOver(ctx context.Context, i int) bool {
	return strings.Contains(c.nodes[3+i].client.Info(ctx, "replication").Val(), "role:master")
}
