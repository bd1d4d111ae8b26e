package registrytest

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// Each runs test once for each kind of Redis, each time with the URL of an empty one.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, start := range map[string]func(t *testing.T) string{
		"redis":     func(t *testing.T) string { return testkit.OwnRedis(t).URL() },
		"miniredis": func(t *testing.T) string { return Mini(t) },
		"cluster":   Cluster,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// Mini starts a miniredis whose clock is driven, and returns its URL.
func Mini(t testing.TB) string {
	t.Helper()
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		drive(m, stop)
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		m.Close()
	})
	// It shares the test's processors, and stops for a step of its clock: slow is not gone.
	return "redis://" + m.Addr() + "?read_timeout=10s"
}

// driveEvery is how far apart the steps of miniredis's clock are: a key may end that much too early. A step costs a sort
// of all keys.
const driveEvery = 100 * time.Millisecond

// drive makes keys expire. Miniredis's own ClockTTL looks at every key for every command of a script: with the keys of
// ten thousand users a registration took 10 ms.
func drive(m *miniredis.Miniredis, stop <-chan struct{}) {
	ticker := time.NewTicker(driveEvery)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case now := <-ticker.C:
			m.FastForward(now.Sub(last))
			last = now
		case <-stop:
			return
		}
	}
}

// Client opens a client that is closed with the test.
func Client(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	client, err := redisclient.Open(url, tlsfiles.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Flush empties a Redis or every master of a cluster.
func Flush(t testing.TB, client redis.UniversalClient) {
	t.Helper()
	flush := func(ctx context.Context, c *redis.Client) error { return c.FlushAll(ctx).Err() }
	var err error
	switch c := client.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(t.Context(), flush)
	case *redis.Client:
		err = flush(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Cluster starts a Redis Cluster of two masters and returns its URL. Without a redis-server the test is skipped.
func Cluster(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("a Redis Cluster needs redis-server")
	}
	first, second := startNode(t, bin), startNode(t, bin)
	one, two := single(t, first), single(t, second)
	ctx := t.Context()
	must(t, one.ClusterAddSlotsRange(ctx, 0, 8191).Err())
	must(t, two.ClusterAddSlotsRange(ctx, 8192, 16383).Err())
	// Two fresh nodes have the same configuration epoch; the conflict would be noticed only after a while.
	must(t, two.Do(ctx, "cluster", "set-config-epoch", 2).Err())
	host, port, err := net.SplitHostPort(second)
	must(t, err)
	must(t, one.ClusterMeet(ctx, host, port).Err())
	for _, node := range []*redis.Client{one, two} {
		testkit.Eventually(t, 30*time.Second, func() bool {
			info := node.ClusterInfo(ctx).Val()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:2")
		}, "the cluster at %s is up", first)
	}
	return "redis://" + first + "?addr=" + second
}

// startNode runs one master-to-be. Its second port is its first and 10000, so the first must leave room.
func startNode(t *testing.T, bin string) (addr string) {
	t.Helper()
	port := freePort(t)
	dir := t.TempDir()
	node := exec.Command(bin, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--appendonly", "no", "--cluster-enabled", "yes", "--cluster-config-file", filepath.Join(dir, "nodes.conf"))
	must(t, node.Start())
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait() // it was killed; how it exits says nothing
	})
	addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	client := single(t, addr)
	testkit.Eventually(t, 10*time.Second, func() bool { return client.Ping(t.Context()).Err() == nil }, "redis-server at %s", addr)
	return addr
}

func freePort(t *testing.T) int {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		must(t, l.Close())
		if port < 55000 {
			return port
		}
	}
}

func single(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
