package testkit

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// Redis returns the redis:// URL of a Redis shared by every test of the binary. It may hold other tests' keys: never
// flush it, and put Prefix into every user id.
func Redis(t testing.TB) string {
	t.Helper()
	return sharedRedis.url(t)
}

// NATS returns the nats:// URL of a NATS server shared by every test of the binary.
func NATS(t testing.TB) string {
	t.Helper()
	return sharedNATS.url(t)
}

var (
	sharedRedis = shared{kind: redisKind, env: "TEST_REDIS_URL"}
	sharedNATS  = shared{kind: natsKind, env: "TEST_NATS_URL"}
)

// shared is a server that starts with its first user and lives until stopShared.
type shared struct {
	kind kind
	env  string // a server that is there already

	once    sync.Once
	address string
	server  *instance // nil where env named the server
	err     error     // kept for every later user: once runs once, also when it fails
}

func (s *shared) url(t testing.TB) string {
	t.Helper()
	s.once.Do(func() {
		if s.address = os.Getenv(s.env); s.address != "" {
			used.add(s.kind.name, s.env)
			return
		}
		if s.server, s.err = launch(s.kind); s.err == nil {
			s.address = s.server.url()
		}
	})
	if s.err != nil {
		t.Fatalf("testkit: %v", s.err)
	}
	return s.address
}

// stopShared stops what was started; it runs after the last test, so nobody starts anything meanwhile.
func stopShared() error {
	var errs []error
	for _, s := range []*shared{&sharedRedis, &sharedNATS, &sharedPostgres} {
		if s.server != nil {
			errs = append(errs, s.server.drop())
		}
	}
	return errors.Join(errs...)
}
