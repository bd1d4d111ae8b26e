package testkit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
)

func TestSharedServersAnswer(t *testing.T) {
	t.Parallel()
	redisURL, natsURL := Redis(t), NATS(t)
	opts, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opts)
	defer c.Close()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("redis: %v", err)
	}
	nc, err := nats.Connect(natsURL)
	if err != nil {
		t.Fatalf("nats: %v", err)
	}
	nc.Close()
	if r, n := Redis(t), NATS(t); r != redisURL || n != natsURL {
		t.Errorf("the shared servers moved to %s and %s", r, n)
	}
}

func TestEnvironmentNamesTheServer(t *testing.T) {
	unreported(t)
	t.Setenv("TEST_REDIS_URL", "redis://elsewhere:1")
	s := shared{kind: redisKind, env: "TEST_REDIS_URL"}
	if got := s.url(t); got != "redis://elsewhere:1" {
		t.Errorf("url is %q, want the environment's", got)
	}
	if got := used.lines(); !slices.Equal(got, []string{"redis = TEST_REDIS_URL"}) {
		t.Errorf("reported %q", got)
	}
	if OwnRedis(t).URL() == "redis://elsewhere:1" {
		t.Error("a server of somebody else's was handed out as the test's own")
	}
}

func TestLaunchOrder(t *testing.T) {
	unreported(t)
	missing := source{name: "missing", start: func(int) (backend, error) { return nil, errUnavailable }}
	broken := source{name: "broken", start: func(int) (backend, error) { return nil, errors.New("no memory") }}
	standIn := source{name: "double", standIn: true, start: inProcess(startMiniredis)}

	for _, tc := range []struct {
		name    string
		real    string // TEST_REQUIRE_REAL
		sources []source
		want    string // source, or what the error says
	}{
		{"what is missing is passed over", "", []source{missing, standIn}, "double"},
		{"a stand-in is no real server", "1", []source{missing, standIn}, "TEST_REQUIRE_REAL=1 forbids double"},
		{"what is there and fails is not hidden", "", []source{broken, standIn}, "no memory"},
		{"nothing at all", "", []source{missing}, "not on this machine"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("TEST_REQUIRE_REAL", tc.real)
			in, err := launch(kind{name: "redis", sources: tc.sources})
			if err != nil {
				if !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %q does not say %q", err, tc.want)
				}
				return
			}
			if in.source.name != tc.want {
				t.Errorf("started %s, want %s", in.source.name, tc.want)
			}
			if err := in.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOwnServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var addrs []string
	t.Run("owner", func(t *testing.T) {
		addrs = append(addrs, OwnRedis(t).Addr(), OwnNATS(t).Addr())
	})
	for _, a := range addrs {
		mustRefuse(t, a)
	}
}

func TestReportNamesEachSourceOnce(t *testing.T) {
	t.Parallel()
	var r report
	r.add("redis", "b")
	r.add("nats", "a")
	r.add("redis", "b")
	if got, want := r.lines(), []string{"nats = a", "redis = b"}; !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
}
