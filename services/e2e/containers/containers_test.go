//go:build integration

package containers_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	"github.com/hecaton-dev/hecaton/services/e2e/containers"
)

func TestMain(m *testing.M) { cluster.Main(m) }

func TestRedisAnswersAndRestartsEmpty(t *testing.T) {
	t.Parallel()
	server := containers.Redis(t)
	opts, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxRetries = -1
	client := redis.NewClient(opts)
	defer client.Close()
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Errorf("read back %q, %v", got, err)
	}

	server.Stop()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("a stopped Redis answers")
	}
	server.Start()
	if err := client.Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("after the restart the key reads %v, want redis.Nil", err)
	}
}

func TestNATSAnswersAndClientsComeBack(t *testing.T) {
	t.Parallel()
	server := containers.NATS(t)
	conn, err := nats.Connect(server.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Subscribe("echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	echo := func() error {
		m, err := conn.Request("echo", []byte("hello"), time.Second)
		if err == nil && string(m.Data) != "hello" {
			err = errors.New("answered " + string(m.Data))
		}
		return err
	}
	if err := echo(); err != nil {
		t.Fatal(err)
	}

	server.Stop()
	testkit.Eventually(t, 10*time.Second, conn.IsReconnecting, "the client notices the stop")
	server.Start()
	testkit.Eventually(t, 20*time.Second, func() bool { return echo() == nil }, "the same client works again")
}
