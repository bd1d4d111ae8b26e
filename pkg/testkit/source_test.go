package testkit

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// ownFrom starts one particular source, whatever else this machine has.
func ownFrom(t *testing.T, k kind, s source) *Server {
	t.Helper()
	return own(t, kind{name: k.name, sources: []source{s}})
}

func available(t *testing.T, s source) {
	t.Helper()
	b, err := s.start(FreePort())
	if errors.Is(err, errUnavailable) {
		t.Skipf("%s: %v", s.name, err)
	}
	if err == nil {
		err = b.stop()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// allowStandIns lets a test of the stand-ins themselves use them, and keeps them out of the report.
func allowStandIns(t *testing.T) {
	t.Helper()
	t.Setenv("TEST_REQUIRE_REAL", "")
	unreported(t)
}

// unreported gives the test, which must not be parallel, a report of its own.
func unreported(t *testing.T) {
	t.Helper()
	whole := used
	used = &report{}
	t.Cleanup(func() { used = whole })
}

func redisClient(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Every source of Redis behaves alike in what tests rely on.
func TestRedisSources(t *testing.T) {
	allowStandIns(t)
	for _, s := range redisKind.sources {
		t.Run(s.name, func(t *testing.T) {
			available(t, s)
			t.Run("expires keys as time passes", func(t *testing.T) { redisExpires(t, s) })
			t.Run("runs Lua with the wall clock", func(t *testing.T) { redisLuaTime(t, s) })
			t.Run("stops, refuses, comes back empty", func(t *testing.T) { redisRestarts(t, s) })
			t.Run("flush empties and keeps connections", func(t *testing.T) { redisFlush(t, s) })
		})
	}
}

func redisExpires(t *testing.T, s source) {
	c := redisClient(t, ownFrom(t, redisKind, s).Addr())
	if err := c.Set(t.Context(), "short", 1, 30*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.Set(t.Context(), "long", 1, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, 5*time.Second, func() bool {
		return errors.Is(c.Get(t.Context(), "short").Err(), redis.Nil)
	}, "a key of 30 ms expires")
	if ttl := c.PTTL(t.Context(), "long").Val(); ttl < 50*time.Second || ttl > time.Minute {
		t.Errorf("a key of one minute has %v left", ttl)
	}
}

func redisLuaTime(t *testing.T, s source) {
	c := redisClient(t, ownFrom(t, redisKind, s).Addr())
	before := time.Now().Unix()
	got, err := c.Eval(t.Context(), `return tonumber(redis.call('TIME')[1])`, nil).Int64()
	if err != nil {
		t.Fatal(err)
	}
	if after := time.Now().Unix(); got < before || got > after {
		t.Errorf("TIME in a script says %d, the clock %d to %d", got, before, after)
	}
}

func redisRestarts(t *testing.T, s source) {
	srv := ownFrom(t, redisKind, s)
	addr := srv.Addr()
	c := redisClient(t, addr)
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}

	srv.Stop()
	srv.Stop() // stopping twice is fine
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("an open connection survives the stop")
	}
	mustRefuse(t, addr)

	srv.Start()
	srv.Start() // and so is starting twice
	if srv.Addr() != addr {
		t.Errorf("came back on %s, was on %s", srv.Addr(), addr)
	}
	if err := c.Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("after the restart the key reads %v, want redis.Nil", err)
	}
}

func redisFlush(t *testing.T, s source) {
	srv := &RedisServer{ownFrom(t, redisKind, s)}
	c := redisClient(t, srv.Addr()).Conn()
	defer c.Close()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	srv.Flush()
	if err := c.Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("after the flush the key reads %v on the same connection, want redis.Nil", err)
	}
}

func TestOwnNATS(t *testing.T) {
	t.Parallel()
	srv := OwnNATS(t)
	nc, err := nats.Connect(srv.URL(), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()

	srv.Stop()
	Eventually(t, 5*time.Second, nc.IsClosed, "the connection notices the stop")
	mustRefuse(t, srv.Addr())

	srv.Start()
	again, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatalf("after the restart: %v", err)
	}
	again.Close()
}

// A port somebody else took is reported as that, so that launch picks another.
func TestPortTaken(t *testing.T) {
	allowStandIns(t)
	for _, k := range []kind{redisKind, natsKind} {
		for _, s := range k.sources {
			t.Run(s.name, func(t *testing.T) {
				available(t, s)
				ln, err := net.Listen("tcp", loopback+":0")
				if err != nil {
					t.Fatal(err)
				}
				defer ln.Close()
				if _, err := s.start(ln.Addr().(*net.TCPAddr).Port); !errors.Is(err, embedded.ErrListen) {
					t.Errorf("start on a taken port: %v, want ErrListen", err)
				}
			})
		}
	}
}

// mustRefuse waits: a listener is gone when its accepting goroutine has noticed, a moment after the server was closed.
func mustRefuse(t *testing.T, addr string) {
	t.Helper()
	Eventually(t, 5*time.Second, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, addr+" refuses connections")
}
