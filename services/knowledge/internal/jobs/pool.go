package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/embed"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// Reader reads documents (package parse).
type Reader interface {
	Read(ctx context.Context, file *os.File, fileName string) ([]parse.Section, error)
}

// Announcer is told what becomes of documents.
type Announcer interface{ Document(d store.Document) }

// Options of a Pool.
type Options struct {
	Store     *store.Store   // required
	Reader    Reader         // required
	Embedder  embed.Embedder // required
	Announcer Announcer      // required
	// Workers is how many documents are processed at once; 0 means 2.
	Workers int
	// Claim is how long a claim lasts without renewal; 0 means 10 s.
	Claim time.Duration
	// Poll is how often the queue is looked at; 0 means 500 ms.
	Poll time.Duration
	// Patience is how long a document waits for embeddings that are away; 0 means 10 minutes.
	Patience time.Duration
	Logger   *slog.Logger          // nil discards
	Metrics  prometheus.Registerer // nil registers none
}

// maxAttempts is how many workers may die at one document.
const maxAttempts = 3

// Pool is the workers of one pod.
type Pool struct {
	o       Options
	log     *slog.Logger
	metrics *metrics
	wake    chan struct{} // capacity 1: there may be work
}

// New checks the options and returns a Pool that Run starts.
func New(o Options) (*Pool, error) {
	if err := errors.Join(options.Require("jobs", map[string]bool{
		"Store": o.Store == nil, "Reader": o.Reader == nil, "Embedder": o.Embedder == nil, "Announcer": o.Announcer == nil,
	}), options.NotNegative("jobs", map[string]int64{
		"Workers": int64(o.Workers), "Claim": int64(o.Claim), "Poll": int64(o.Poll), "Patience": int64(o.Patience),
	})); err != nil {
		return nil, err
	}
	set(&o.Workers, 2)
	set(&o.Claim, 10*time.Second)
	set(&o.Poll, 500*time.Millisecond)
	set(&o.Patience, 10*time.Minute)
	return &Pool{o: o, log: obs.OrDiscard(o.Logger), metrics: newMetrics(o), wake: make(chan struct{}, 1)}, nil
}

func set[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

// Wake has a worker look at the queue now.
func (p *Pool) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// sweepEvery is how often uploads that broke off are looked for.
const sweepEvery = 10 * time.Minute

// Run works until ctx ends, and returns when all workers have let go of their documents.
func (p *Pool) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range p.o.Workers {
		workers.Go(func() { p.work(ctx) })
	}
	workers.Go(func() {
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			if err := p.o.Store.SweepUploads(ctx); err != nil && ctx.Err() == nil {
				p.log.WarnContext(ctx, "uploads that broke off are not removed", "error", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	workers.Wait()
	return nil
}

// work is one worker.
func (p *Pool) work(ctx context.Context) {
	for ctx.Err() == nil {
		claim, err := p.o.Store.Claim(ctx, p.o.Embedder.Model(), p.o.Claim)
		if err == nil && claim != nil {
			p.Wake() // there may be more for another worker
			p.handle(ctx, claim)
			continue
		}
		if err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "the queue of documents cannot be read", "error", err)
		}
		select {
		case <-time.After(p.o.Poll/2 + rand.N(p.o.Poll)):
		case <-p.wake:
		case <-ctx.Done():
		}
	}
}
