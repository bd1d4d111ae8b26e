package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

const (
	// claimUsers is how many users are swept at a time: enough that round trips do not count, few enough that replicas
	// share the work.
	claimUsers = 500
	// passTimeout bounds one sweep. A claim lasts longer, so nobody sweeps what is being settled.
	passTimeout = 20 * time.Second
)

// Expiries is the store as a Sweeper needs it.
type Expiries interface {
	// Claim takes users who may have expired nodes; while the claim lasts, nobody else gets them.
	Claim(ctx context.Context, max int, lasts time.Duration) (store.Claim, error)
	// Sweep removes expired nodes; whoever removed one has it in the result, and nobody else.
	Sweep(ctx context.Context, users []ids.UserID) []store.Swept
	// Settle says when each user is due again.
	Settle(ctx context.Context, claim store.Claim, next map[ids.UserID]time.Time) error
}

// Sweeper removes and announces nodes whose leases ended. Any number of replicas may sweep at once.
type Sweeper struct {
	// static after construction
	expiries  Expiries
	announcer Announcer
	every     time.Duration
	log       *slog.Logger
	expired   prometheus.Counter
	sweeps    *prometheus.CounterVec // by outcome
	seconds   prometheus.Histogram
}

// SweeperOptions are what a [Sweeper] is made of.
type SweeperOptions struct {
	Expiries  Expiries
	Announcer Announcer
	// Every is how often it sweeps, at least 1 ms.
	Every   time.Duration
	Logger  *slog.Logger // nil means discard
	Metrics prometheus.Registerer
}

// NewSweeper returns a Sweeper.
func NewSweeper(o SweeperOptions) (*Sweeper, error) {
	if err := options.Require("lease", map[string]bool{
		"Expiries": o.Expiries == nil, "Announcer": o.Announcer == nil, "Metrics": o.Metrics == nil,
	}); err != nil {
		return nil, err
	}
	if o.Every < time.Millisecond {
		return nil, fmt.Errorf("lease: Options.Every is %v; it must be at least 1ms", o.Every)
	}
	s := &Sweeper{
		expiries: o.Expiries, announcer: o.Announcer, every: o.Every, log: obs.OrDiscard(o.Logger),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_registry_nodes_expired_total", Help: "Nodes removed because nobody renewed their lease.",
		}),
		sweeps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_registry_sweeps_total", Help: "Sweeps for expired nodes on this replica, by outcome: ok or failed.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hecaton_registry_sweep_duration_seconds", Help: "Duration of sweeps for expired nodes.",
			Buckets: prometheus.ExponentialBuckets(0.001, 3, 10), // 1 ms to 20 s, when a sweep is given up
		}),
	}
	for _, outcome := range []string{sweptAll, failed} {
		s.sweeps.WithLabelValues(outcome)
	}
	o.Metrics.MustRegister(s.expired, s.sweeps, s.seconds)
	return s, nil
}

// Run sweeps until ctx ends; a sweep in progress is finished. The first one comes at a random moment of the interval,
// so that replicas that start together do not sweep together.
func (s *Sweeper) Run(ctx context.Context) error {
	timer := time.NewTimer(rand.N(s.every))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		if err := s.Sweep(ctx); err != nil {
			s.log.WarnContext(ctx, "the sweep of expired nodes failed", "error", err)
		}
		timer.Reset(s.every)
	}
}

// sweptAll labels a sweep that reached everybody who was due.
const sweptAll = "ok"

// Sweep looks at all users who are due.
func (s *Sweeper) Sweep(ctx context.Context) error {
	began := time.Now()
	err := s.pass(ctx)
	s.seconds.Observe(time.Since(began).Seconds())
	outcome := sweptAll
	if err != nil {
		outcome = failed
	}
	s.sweeps.WithLabelValues(outcome).Inc()
	return err
}

func (s *Sweeper) pass(ctx context.Context) error {
	// What is removed has to be announced, so the end of ctx does not interrupt a pass.
	pass, cancel := context.WithTimeout(context.WithoutCancel(ctx), passTimeout)
	defer cancel()
	var problems []error
	for ctx.Err() == nil {
		claim, err := s.expiries.Claim(pass, claimUsers, max(s.every, 2*passTimeout))
		if err != nil {
			return errors.Join(append(problems, err)...)
		}
		if err := s.sweep(pass, claim); err != nil {
			problems = append(problems, err)
		}
		if len(claim.Users) < claimUsers {
			break
		}
	}
	return errors.Join(problems...)
}

func (s *Sweeper) sweep(ctx context.Context, claim store.Claim) error {
	if len(claim.Users) == 0 {
		return nil
	}
	next := make(map[ids.UserID]time.Time, len(claim.Users))
	var events []*nodev1.NodeEvent
	var problem error
	failures := 0
	for i, swept := range s.expiries.Sweep(ctx, claim.Users) {
		events = append(events, swept.Events...)
		if swept.Err != nil {
			problem = swept.Err
			failures++
			continue // it stays claimed, and is due again when the claim ends
		}
		next[claim.Users[i]] = swept.Next
	}
	s.expired.Add(float64(len(events)))
	s.announcer.Announce(ctx, events)
	if problem != nil {
		problem = fmt.Errorf("%d of %d users could not be swept, such as: %w", failures, len(claim.Users), problem)
	}
	return errors.Join(problem, s.expiries.Settle(ctx, claim, next))
}
