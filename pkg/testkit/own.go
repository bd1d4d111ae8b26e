package testkit

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// Server is a server of one test's own. Its methods belong to the test's goroutine: they end the test on failure.
type Server struct {
	t  testing.TB
	in *instance
}

// OwnNATS starts a NATS server for this test alone; it ends with the test.
func OwnNATS(t testing.TB) *Server {
	t.Helper()
	return own(t, natsKind)
}

// NATSCluster starts NATS servers that form a cluster, for this test alone, and returns their URLs. Servers pass on what
// concerns each other's clients a moment later; a single one has no such moments.
func NATSCluster(t testing.TB, servers int) (urls []string) {
	t.Helper()
	cluster, err := embedded.StartNATSCluster(servers, admission)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	for _, n := range cluster {
		t.Cleanup(func() {
			if err := (closing{n}).stop(); err != nil {
				t.Errorf("testkit: %v", err)
			}
		})
		urls = append(urls, n.URL())
	}
	return urls
}

// RedisServer is a Server that can be emptied.
type RedisServer struct{ *Server }

// OwnRedis starts a Redis for this test alone; it ends with the test. TEST_REDIS_URL is not consulted.
func OwnRedis(t testing.TB) *RedisServer {
	t.Helper()
	s := &RedisServer{own(t, redisKind)}
	t.Cleanup(s.checkDenied) // before it ends
	return s
}

func own(t testing.TB, k kind) *Server {
	t.Helper()
	in, err := launch(k)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(func() {
		if err := in.drop(); err != nil {
			t.Errorf("testkit: %v", err)
		}
	})
	return &Server{t: t, in: in}
}

// Addr is the server's host:port, the same before and after a restart.
func (s *Server) Addr() string { return s.in.addr() }

// URL is the server's URL (redis:// or nats://, postgres:// of a PostgresServer), the same before and after a restart.
func (s *Server) URL() string { return s.in.url() }

// Stop ends the server: every connection breaks and new ones are refused. A stopped server may be stopped again.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.in.stop(); err != nil {
		s.t.Fatalf("testkit: stop: %v", err)
	}
}

// Start brings a stopped server back on its port, empty unless it is a PostgresServer.
func (s *Server) Start() {
	s.t.Helper()
	if s.in.backend != nil {
		return
	}
	if err := s.in.start(); err != nil {
		s.t.Fatalf("testkit: start again: %v", err)
	}
}

// Flush empties the Redis while its connections stay (FLUSHALL).
func (s *RedisServer) Flush() {
	s.t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
	defer c.Close()
	if err := c.FlushAll(s.t.Context()).Err(); err != nil {
		s.t.Fatalf("testkit: flush: %v", err)
	}
}
