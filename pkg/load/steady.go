package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Steady is a number of calls a second, whether or not those before are answered: an open loop.
type Steady struct {
	// Call makes the i-th call, as [Call] does for a worker.
	Call func(ctx context.Context, i int) (size int, err error)
	// Rate is how many calls begin in a second.
	Rate float64
	// Size is what every result must have, in bytes.
	Size int
	// For is how long calls begin.
	For time.Duration
}

// RunSteady makes the calls, each at its own moment, and waits for the last one. A sample is from the moment at which a
// call was due, so a wait for the processor before it counts as well. The first call that fails ends the job.
func RunSteady(ctx context.Context, job Steady) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := int(job.Rate * job.For.Seconds())
	if total == 0 {
		return Result{}, errors.New("no call was made")
	}
	samples := make([]time.Duration, total)
	var open sync.WaitGroup
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range samples {
		due := Due(start, job.Rate, int64(i))
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		open.Go(func() {
			size, err := job.Call(ctx, i)
			if err == nil && size != job.Size {
				err = fmt.Errorf("a result has %d bytes, want %d", size, job.Size)
			}
			if err != nil {
				cancel(err)
			}
			samples[i] = time.Since(due)
		})
	}
	open.Wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	slices.Sort(samples)
	return Result{Samples: samples, Elapsed: time.Since(start)}, nil
}
