package redisclient_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// Where a master is lost, its successor is found within seconds, by single commands and by pipelines, whichever slots they need.
func TestASuccessorIsFound(t *testing.T) {
	t.Parallel()
	cluster := testkit.NewRedisCluster(t)
	client, err := redisclient.Open(cluster.URL(), tlsfiles.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	var last error
	each := func(do func(key string) error) func() bool {
		return func() bool {
			for i := range 50 {
				if last = do(fmt.Sprint("{", i, "}")); last != nil {
					return false
				}
			}
			return true
		}
	}
	single := each(func(key string) error { return client.Set(t.Context(), key, "v", 0).Err() })
	pipelined := each(func(key string) error {
		_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			p.Get(t.Context(), key)
			p.Set(t.Context(), key, "w", 0)
			return nil
		})
		return err
	})
	if !single() || !pipelined() {
		t.Fatal(last)
	}
	cluster.KillMaster(0)
	began := time.Now()
	testkit.Eventually(t, 20*time.Second, pipelined, "pipelines find it")
	testkit.Eventually(t, 5*time.Second, single, "single commands find it")
	t.Logf("after %v", time.Since(began).Round(time.Millisecond))
}
