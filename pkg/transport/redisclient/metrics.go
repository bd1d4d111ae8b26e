package redisclient

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Measure has the commands of a client measured from now on: how long they take and how many fail. Commands of one round
// trip count as one, a pipeline.
func Measure(reg prometheus.Registerer, service string, client redis.UniversalClient) {
	labels := prometheus.Labels{"service": service}
	m := &meter{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hecaton_redis_command_duration_seconds", Help: "Duration of commands to Redis, by command; those of one round trip are one pipeline.",
			ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(0.00025, 2, 13), // 0.25 ms to 1 s, when a command is given up
		}, []string{"command"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_redis_errors_total", Help: "Commands to Redis that failed, by command.", ConstLabels: labels,
		}, []string{"command"}),
	}
	m.errors.WithLabelValues(pipeline)
	reg.MustRegister(m.seconds, m.errors)
	client.AddHook(m)
}

// pipeline stands for the commands of one round trip.
const pipeline = "pipeline"

// meter is a hook of the client.
type meter struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
}

// DialHook implements [redis.Hook]: a dial that fails shows in the command that needed it.
func (m *meter) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (m *meter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if greets(cmd) {
			return next(ctx, cmd)
		}
		began := time.Now()
		err := next(ctx, cmd)
		m.seen(cmd.Name(), began, err)
		return err
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (m *meter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if greets(cmds[0]) {
			return next(ctx, cmds)
		}
		began := time.Now()
		err := next(ctx, cmds)
		m.seen(pipeline, began, err)
		return err
	}
}

// greets reports whether a command is one that the library itself sends on a new connection; older servers refuse some of
// them, which does no harm.
func greets(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "hello", "client", "auth", "select", "readonly":
		return true
	}
	return false
}

func (m *meter) seen(command string, began time.Time, err error) {
	m.seconds.WithLabelValues(command).Observe(time.Since(began).Seconds())
	if failed(err) {
		m.errors.WithLabelValues(command).Inc()
	}
}

// failed does not count answers as errors: an absent key, or an unknown script, which is then loaded.
func failed(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && !redis.HasErrorPrefix(err, "NOSCRIPT")
}
