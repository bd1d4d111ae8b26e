package redisclient_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

func TestFailuresAreCountedAndAnswersAreNot(t *testing.T) {
	t.Parallel()
	server := testkit.OwnRedis(t)
	client, err := redisclient.Open(server.URL(), tlsfiles.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	reg := prometheus.NewRegistry()
	redisclient.Measure(reg, "test", client)
	ctx := t.Context()
	_ = client.Get(ctx, "absent").Err()         // an answer
	_ = client.EvalSha(ctx, "0123", nil).Err()  // an answer: load it
	_ = client.Set(ctx, "text", "a", 0).Err()   // done
	_ = client.HGet(ctx, "text", "field").Err() // the wrong type: a failure
	server.Stop()                               // and now everything fails
	_, _ = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, "a")
		p.Get(ctx, "b")
		return nil
	})
	failed := map[string]float64{}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "hecaton_redis_errors_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			failed[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	if failed["hget"] != 1 || failed["pipeline"] != 1 || len(failed) != 2 {
		t.Errorf("failed: %v", failed)
	}
	if n := testutil.CollectAndCount(reg, "hecaton_redis_command_duration_seconds"); n != 5 {
		t.Errorf("%d commands are measured", n)
	}
}
