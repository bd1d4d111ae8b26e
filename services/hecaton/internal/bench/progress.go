package bench

import (
	"fmt"
	"sync"
	"time"
)

// progress says now and then how it goes.
type progress struct {
	quit chan struct{}
	work sync.WaitGroup
}

const (
	barEvery  = 200 * time.Millisecond
	lineEvery = 5 * time.Second
)

// progress begins to say what status says; nothing where there is nowhere to say it.
func (b *bench) progress(status func() string) *progress {
	p := &progress{quit: make(chan struct{})}
	if b.o.Progress == nil {
		return p
	}
	every, format, last := lineEvery, "%s\n", ""
	if b.o.Terminal {
		every, format, last = barEvery, "\r\x1b[K%s", "\r\x1b[K"
	}
	p.work.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(b.o.Progress, format, status())
			case <-p.quit:
				fmt.Fprint(b.o.Progress, last)
				return
			}
		}
	})
	return p
}

func (p *progress) stop() {
	close(p.quit)
	p.work.Wait()
}

// status is how the load goes.
func (b *bench) status() string {
	now := time.Now()
	n := b.recorder.Now(now)
	return fmt.Sprintf("%v: %.0f/s, p50 %v, p99 %v, %d open, %d refused, %d unknown, %d nodes",
		now.Sub(b.recorder.Begin()).Round(time.Second), n.PerSecond, n.P50, n.P99, b.callers.Open(), n.Refused, n.Unknown, b.fleet.Up())
}
