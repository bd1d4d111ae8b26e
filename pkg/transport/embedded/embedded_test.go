package embedded_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRedisExpiresKeysAsTimePasses(t *testing.T) {
	t.Parallel()
	r, err := embedded.StartRedis("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	opts, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opts)
	defer c.Close()

	for key, ttl := range map[string]time.Duration{"short": 300 * time.Millisecond, "long": time.Minute} {
		if err := c.Set(t.Context(), key, 1, ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	for poll := time.Tick(10 * time.Millisecond); c.Get(t.Context(), "short").Err() == nil; <-poll {
		if time.Since(began) > 10*time.Second {
			t.Fatal("a key of 300 ms is there after 10 s")
		}
	}
	if took := time.Since(began); took < 150*time.Millisecond {
		t.Errorf("a key of 300 ms ended after %v", took)
	}
	if left := c.PTTL(t.Context(), "long").Val(); left < 45*time.Second {
		t.Errorf("a key of one minute has %v left", left)
	}
}

func TestNATSServesWithItsDefaults(t *testing.T) {
	t.Parallel()
	n, err := embedded.StartNATS("127.0.0.1:0", embedded.Admission{Open: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c, err := nats.Connect(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.MaxPayload(); got != 1<<20 {
		t.Errorf("max_payload is %d, want NATS's default", got)
	}
	if _, err := c.Request("nobody.here", nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a request that nobody serves: %v, want no responders", err)
	}
}

func TestATakenAddressIsErrListen(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	if _, err := embedded.StartRedis(taken, nil); !errors.Is(err, embedded.ErrListen) {
		t.Errorf("redis: %v, want ErrListen", err)
	}
	if _, err := embedded.StartNATS(taken, embedded.Admission{Open: true}); !errors.Is(err, embedded.ErrListen) {
		t.Errorf("nats: %v, want ErrListen", err)
	}
}

func TestNATSRefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"", "127.0.0.1", "127.0.0.1:nats"} {
		if n, err := embedded.StartNATS(addr, embedded.Admission{Open: true}); err == nil {
			n.Close()
			t.Errorf("%q was accepted", addr)
		}
	}
}

// What is closed gives its address back at once, and comes back empty.
func TestCloseFreesTheAddress(t *testing.T) {
	t.Parallel()
	r, err := embedded.StartRedis("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	addr := r.Addr()
	put := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer put.Close()
	if err := put.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if r, err = embedded.StartRedis(addr, nil); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	get := redis.NewClient(&redis.Options{Addr: addr})
	defer get.Close()
	if err := get.Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("after the restart the key reads %v, want redis.Nil", err)
	}
}
