package limits

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Registry shares what users take among all pods.
type Registry interface {
	// ShareUse has one answer for each user, in order.
	ShareUse(ctx context.Context, ttl time.Duration, users []*nodev1.UserUse) ([]*nodev1.UserShare, error)
}

// Config is what a Limiter is made of.
type Config struct {
	Settings Settings
	Registry Registry
	Metrics  prometheus.Registerer
	Logger   *slog.Logger
}

// Limiter holds the limits of all users in one pod. It is safe for concurrent use.
type Limiter struct {
	// Static after construction.
	Config
	seed    maphash.Seed
	refused [len(names)]prometheus.Counter
	logins  logins

	shards [64]shard
	away   atomic.Bool // the registry did not answer last

	mu     sync.Mutex
	listed []*Account // to be reported to the registry

	wake chan struct{} // capacity 1
	quit chan struct{}
	work sync.WaitGroup
}

type shard struct {
	mu       sync.Mutex
	accounts map[ids.UserID]*Account
}

// New returns a Limiter that shares what is taken until Close.
func New(cfg Config) *Limiter {
	l := &Limiter{
		Config: cfg, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1), quit: make(chan struct{}),
		logins: logins{rate: cfg.Settings.rate(failedLogins), buckets: map[string]*bucket{}},
	}
	for i := range l.shards {
		l.shards[i].accounts = map[ids.UserID]*Account{}
	}
	l.measure(cfg.Metrics)
	l.work.Go(l.share)
	return l
}

// Close gives back what the pod holds of others, and stops.
func (l *Limiter) Close() {
	close(l.quit)
	l.work.Wait()
}

func (l *Limiter) measure(r prometheus.Registerer) {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hecaton_gateway_limited_total", Help: "What was refused or held up because one user met a limit, by limit.",
	}, []string{"limit"})
	for i, name := range names {
		l.refused[i] = refused.WithLabelValues(name)
	}
	shared := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hecaton_gateway_limits_shared", Help: "Whether limits hold across pods (1), or for each pod alone because the registry cannot be asked (0).",
	}, func() float64 {
		if l.away.Load() {
			return 0
		}
		return 1
	})
	r.MustRegister(refused, shared)
}

func (l *Limiter) count(kind limit) { l.refused[kind].Inc() }

// lock returns the account of a user, which is made where there is none, with its mu held.
func (l *Limiter) lock(user ids.UserID, now time.Time) *Account {
	s := &l.shards[maphash.String(l.seed, string(user))%uint64(len(l.shards))]
	for {
		s.mu.Lock()
		a := s.accounts[user]
		if a == nil {
			a = l.newAccount(user, now)
			s.accounts[user] = a
		}
		s.mu.Unlock()
		a.mu.Lock()
		if !a.gone {
			return a
		}
		a.mu.Unlock()
	}
}

// forgetAfter is how long an account is kept that nobody uses.
const forgetAfter = time.Minute

// forget drops the accounts that nobody uses, and lists those that hold places: their leases have to be renewed.
func (l *Limiter) forget(now time.Time) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		accounts := make([]*Account, 0, len(s.accounts))
		for _, a := range s.accounts {
			accounts = append(accounts, a)
		}
		s.mu.Unlock()
		for _, a := range accounts {
			a.mu.Lock()
			a.renew()
			a.gone = a.idle(now)
			gone := a.gone
			a.mu.Unlock()
			if gone { // nobody uses it any more, and whoever looks for it waits for the shard's lock
				s.mu.Lock()
				delete(s.accounts, a.user)
				s.mu.Unlock()
			}
		}
	}
	l.logins.forget(now)
}

// met counts and describes a limit that was met.
func (l *Limiter) met(kind limit, most, left int64, wait time.Duration) *errs.Error {
	l.count(kind)
	e := errs.New(errs.RateLimited, "%s; ask again in %v", explain[kind], wait.Round(10*time.Millisecond))
	e.Limit = &errs.LimitMet{Name: names[kind], Limit: most, Remaining: left, RetryAfter: wait}
	return e
}

// explain is what people read.
var explain = [...]string{
	calls:        "this user makes more calls than one may in a second",
	connects:     "this user opens more connections than one may in a second",
	sentBytes:    "this user sends more bytes than one may in a second",
	webSockets:   "this user has as many web clients connected as one may have",
	streams:      "this user has as many event streams open as one may have",
	openCalls:    "this user has as many calls in progress as one may have",
	failedLogins: "too many logins from this address failed",
}
