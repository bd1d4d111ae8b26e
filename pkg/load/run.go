package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// Call makes one call for a worker and returns the size of the result in bytes. Each worker makes one at a time.
type Call func(ctx context.Context, worker int) (size int, err error)

// Job is what to run. It ends with the first limit that is reached; calls that are open then are waited for.
type Job struct {
	Call    Call
	Workers int
	// Size is what every result must have, in bytes.
	Size int
	// For bounds the time in which calls begin, Calls their number.
	For   time.Duration
	Calls int
	// Every is how long after the end of a call its worker makes the next one; 0 is at once.
	Every time.Duration
}

// Result is what a Job took.
type Result struct {
	// Samples are the durations of all calls, sorted.
	Samples []time.Duration
	// Elapsed is from the first call's beginning to the last one's end.
	Elapsed time.Duration
}

// PerSecond returns the rate of calls.
func (r Result) PerSecond() float64 { return float64(len(r.Samples)) / r.Elapsed.Seconds() }

// Quantile returns the smallest sample that is not exceeded by the fraction q of all samples (nearest rank).
func (r Result) Quantile(q float64) time.Duration { return Quantile(r.Samples, q) }

// expected is the room for samples that a worker starts with.
const expected = 4 << 10

// Run runs a job. The first call that fails ends it.
func Run(ctx context.Context, job Job) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(job.Calls))
	samples := make([][]time.Duration, job.Workers)
	for i := range samples {
		samples[i] = make([]time.Duration, 0, expected)
	}
	var workers sync.WaitGroup
	start := time.Now()
	end := start.Add(job.For)
	for i := range job.Workers {
		workers.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				begin := time.Now()
				if begin.After(end) {
					return
				}
				size, err := job.Call(ctx, i)
				if err == nil && size != job.Size {
					err = fmt.Errorf("a result has %d bytes, want %d", size, job.Size)
				}
				if err != nil {
					cancel(err)
					return
				}
				samples[i] = append(samples[i], time.Since(begin))
				if job.Every > 0 && !sleep.For(ctx, job.Every) {
					return
				}
			}
		})
	}
	workers.Wait()
	r := Result{Samples: slices.Concat(samples...), Elapsed: time.Since(start)}
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	if len(r.Samples) == 0 {
		return r, errors.New("no call was made")
	}
	slices.Sort(r.Samples)
	return r, nil
}
