package tokens

import (
	"context"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// batch is how many tokens one question names.
const batch = 500

// keep asks about the tokens in use, and forgets the others.
func (b *Book) keep() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.work.Go(func() {
		<-b.quit
		cancel()
	})
	tick := time.NewTicker(Fresh)
	defer tick.Stop()
	down := false
	for {
		select {
		case <-b.quit:
			return
		case <-tick.C:
		}
		var err error
		for list := range slices.Chunk(b.used(), batch) {
			if _, err = b.ask(ctx, list...); err != nil {
				break
			}
		}
		switch {
		case err != nil && !down && ctx.Err() == nil:
			b.log.Warn("tokens cannot be checked; connections that are open with them end in a minute", "error", err)
		case err == nil && down:
			b.log.Info("tokens can be checked again")
		}
		down = err != nil
		b.giveUp()
	}
}

// used returns the tokens that connections are open with, and forgets those of nobody.
func (b *Book) used() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.pages {
		switch {
		case len(p.watchers) > 0:
			list = append(list, id)
		case !p.revoked.IsZero() && time.Since(p.revoked) < mourned:
		case time.Since(p.asked) > Fresh:
			delete(b.pages, id)
		}
	}
	return list
}

// giveUp ends what is open with tokens that could not be asked about for too long: they may have been revoked.
func (b *Book) giveUp() {
	b.mu.Lock()
	var ended []map[*watcher]struct{}
	for _, p := range b.pages {
		if len(p.watchers) > 0 && time.Since(p.asked) > auth.Grace {
			ended = append(ended, p.watchers)
			p.watchers = nil
		}
	}
	b.mu.Unlock()
	for _, watchers := range ended {
		end(watchers)
	}
}
