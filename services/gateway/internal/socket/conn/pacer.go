package conn

import (
	"context"
	"time"
)

// pacer slows down a client that sends too many frames: those beyond the limit of one second are read in the next, so that they
// wait in the client's own socket. It belongs to the reader.
type pacer struct {
	limit int // frames a second; 0 means no limit

	second time.Time
	frames int
}

func (p *pacer) count(ctx context.Context) {
	if p.limit == 0 {
		return
	}
	if p.frames++; p.frames < p.limit {
		return
	}
	now := time.Now()
	if rest := time.Second - now.Sub(p.second); rest > 0 {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	p.second, p.frames = time.Now(), 0
}
