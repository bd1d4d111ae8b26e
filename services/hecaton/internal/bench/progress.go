package bench

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/report"
)

// progress says now and then how it goes: on a terminal in one line, which is written over, else in lines of their own.
type progress struct {
	quit chan struct{}
	work sync.WaitGroup
}

const (
	barEvery  = 200 * time.Millisecond
	lineEvery = 5 * time.Second
	barWidth  = 24
	// clearLine goes to the beginning of a terminal's line and empties it.
	clearLine = "\r\x1b[K"
)

// progress begins to say what status says; nothing where there is nowhere to say it.
func (b *bench) progress(status func() (share float64, text string)) *progress {
	p := &progress{quit: make(chan struct{})}
	if b.o.Progress == nil {
		return p
	}
	every := lineEvery
	if b.o.Terminal {
		every = barEvery
	}
	p.work.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-p.quit:
				if b.o.Terminal {
					fmt.Fprint(b.o.Progress, clearLine)
				}
				return
			}
			share, text := status()
			if b.o.Terminal {
				fmt.Fprintf(b.o.Progress, "%s%s %s", clearLine, drawBar(share), text)
			} else {
				fmt.Fprintf(b.o.Progress, "%3.0f %% %s\n", 100*share, text)
			}
		}
	})
	return p
}

func (p *progress) stop() {
	close(p.quit)
	p.work.Wait()
}

// drawBar is a bar of which a share is full.
func drawBar(share float64) string {
	full := int(min(max(share, 0), 1) * barWidth)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full) + "]"
}

// connecting is how far the nodes are.
func (b *bench) connecting() (float64, string) {
	up := b.fleet.Up()
	return float64(up) / float64(b.o.Plan.Nodes), fmt.Sprintf("%d of %d nodes are connected", up, b.o.Plan.Nodes)
}

// expected is how long the load lasts where the commands of faults take no time.
func (o Options) expected() time.Duration {
	if len(o.Faults) == 0 {
		return o.Duration
	}
	sum := o.Calm
	for _, f := range o.Faults {
		sum += f.Hold + f.Settle
	}
	return max(sum, o.Duration)
}

// status is how the load goes.
func (b *bench) status() (float64, string) {
	now := time.Now()
	n, passed := b.recorder.Now(now), now.Sub(b.recorder.Begin())
	text := fmt.Sprintf("%v  %.0f/s  p50 %s  p99 %s  open %d  refused %d  unknown %d", passed.Round(time.Second), n.PerSecond,
		report.Duration(n.P50), report.Duration(n.P99), b.callers.Open(), n.Refused, n.Unknown)
	if b.o.Runs > 0 {
		text += fmt.Sprintf("  runs %d", n.Runs)
	}
	if down := b.o.Plan.Nodes - b.fleet.Up(); down > 0 {
		text += fmt.Sprintf("  nodes away %d", down)
	}
	if n.Fault != "" {
		text += fmt.Sprintf("  | %s: %s", n.Fault, n.Mark)
	}
	return passed.Seconds() / b.o.expected().Seconds(), text
}
