package embedded

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// driveEvery is the distance between two steps of miniredis's clock. Miniredis can follow the clock by itself (ClockTTL), but
// then looks at every key for every command: with ten thousand users in it, a registration took 10 ms.
const driveEvery = 100 * time.Millisecond

// Redis is a Redis in this process.
type Redis struct {
	mini    *miniredis.Miniredis
	stop    chan struct{}
	stopped chan struct{}
}

// StartRedis starts an empty Redis on host:port; port 0 takes any. It fails with ErrListen only.
func StartRedis(addr string) (*Redis, error) {
	r := &Redis{mini: miniredis.NewMiniRedis(), stop: make(chan struct{}), stopped: make(chan struct{})}
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

// URL is Addr as a redis:// URL.
func (r *Redis) URL() string { return "redis://" + r.Addr() }

// Close ends the Redis and its connections; it may be called once.
func (r *Redis) Close() {
	close(r.stop)
	<-r.stopped
	r.mini.Close()
}
