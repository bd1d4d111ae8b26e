package registrytest

import (
	"context"
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

// Cluster starts a Redis Cluster and returns its URL. Without a redis-server the test is skipped.
func Cluster(t *testing.T) string { return testkit.NewRedisCluster(t).URL() }
