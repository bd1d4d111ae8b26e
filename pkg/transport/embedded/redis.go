package embedded

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

// driveEvery is the distance between two steps of miniredis's clock. Miniredis can follow the clock by itself (ClockTTL), but
// then looks at every key for every command: with ten thousand users in it, a registration took 10 ms.
const driveEvery = 100 * time.Millisecond

// Redis is a Redis in this process.
type Redis struct {
	mini      *miniredis.Miniredis
	passwords access.Passwords
	stop      chan struct{}
	stopped   chan struct{}
}

// StartRedis starts an empty Redis on host:port; port 0 takes any. It fails with ErrListen only. Where there are passwords,
// nobody is let in without one; miniredis has no rules of who may do what.
func StartRedis(addr string, passwords access.Passwords) (*Redis, error) {
	r := &Redis{mini: miniredis.NewMiniRedis(), passwords: passwords, stop: make(chan struct{}), stopped: make(chan struct{})}
	for s, password := range passwords {
		r.mini.RequireUserAuth(string(s), password)
	}
	if err := r.mini.StartAddr(addr); err != nil {
		return nil, fmt.Errorf("redis: %w: %w", ErrListen, err)
	}
	go r.drive()
	return r, nil
}

// drive makes keys expire until Close.
func (r *Redis) drive() {
	defer close(r.stopped)
	ticker := time.NewTicker(driveEvery)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-ticker.C:
			now := time.Now()
			r.mini.FastForward(now.Sub(last))
			last = now
		case <-r.stop:
			return
		}
	}
}

// Addr is the host:port that clients connect to.
func (r *Redis) Addr() string { return r.mini.Addr() }

// URL is Addr as a redis:// URL, without credentials.
func (r *Redis) URL() string { return "redis://" + r.Addr() }

// URLFor is URL with a service's credentials, where there are any.
func (r *Redis) URLFor(s access.Service) string {
	if r.passwords == nil {
		return r.URL()
	}
	return withCredentials("redis", s, r.passwords, r.Addr())
}

// Close ends the Redis and its connections; it may be called once.
func (r *Redis) Close() {
	close(r.stop)
	<-r.stopped
	r.mini.Close()
}
