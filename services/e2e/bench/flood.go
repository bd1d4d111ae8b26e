package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/load"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

// floodRoom is the number of the first node of this measurement, chosen so that no other measurement uses its users.
const floodRoom = 1_000_000

const (
	// quietCallers each make a call every quietEvery, which is far below the limits of a user.
	quietCallers = 4
	quietEvery   = 40 * time.Millisecond
	// floodCallers share what is offered.
	floodCallers = 64
)

// maxBesideFlood is by how much a flood may change the p99 of another user.
const maxBesideFlood = 1.20

// besideFlood is what a quiet user hears of another user's flood.
type besideFlood struct {
	// Ratio is the median over the rounds of the quotient of the quiet user's p99 beside the flood and alone.
	Ratio float64
	// Alone and Beside are of all samples.
	Alone, Beside figures
	// Offered, Answered and Refused are the flood's calls a second.
	Offered, Answered, Refused float64
}

func (b *besideFlood) write(w io.Writer) {
	t := load.Table{
		{"a quiet user, two pods with limits", "p50 ", "p99 "},
		{"alone", micros(b.Alone.P50), micros(b.Alone.P99)},
		{"beside a flood", micros(b.Beside.P50), micros(b.Beside.P99)},
		{fmt.Sprintf("p99 beside / alone (≤ %.2f)", maxBesideFlood), "", fmt.Sprintf("%.2f%s", b.Ratio, mark(b.Ratio <= maxBesideFlood))},
	}
	_ = t.Write(w, "")
	_, _ = fmt.Fprintf(w, "of the flood's %.0f calls a second %.0f were answered, %.0f refused\n\n", b.Offered, b.Answered, b.Refused)
}

// flooded are two pods with limits, a quiet user and one who floods.
type flooded struct {
	floodOptions
	quiet []*toolv1.CallToolRequest
	flood []*toolv1.CallToolRequest
	tools []toolv1.ToolServiceClient // of each pod

	answered, refused atomic.Int64
}

func (c *cluster) measureFlood(ctx context.Context, o floodOptions) (result besideFlood, err error) {
	f := &flooded{floodOptions: o}
	fleet, err := c.nodes()
	if err != nil {
		return result, err
	}
	defer func() { fleet.Kill() }()
	var conns []*grpc.ClientConn
	defer func() {
		for _, cc := range conns {
			err = errors.Join(err, cc.Close())
		}
	}()
	for i, name := range []string{"limited entry", "limited holder"} {
		p, err := c.limited(name)
		if err != nil {
			return result, err
		}
		defer func() { p.Kill() }()
		cc, err := grpc.NewClient(p.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return result, err
		}
		conns = append(conns, cc)
		f.tools = append(f.tools, toolv1.NewToolServiceClient(cc))
		plan := nodes.Plan{Addr: p.HTTP, Dialect: nodes.Zeus, Count: perUser, PerUser: perUser, First: floodRoom + i*perUser}
		if _, err := fleet.connect(plan); err != nil {
			return result, err
		}
	}
	if err := fleet.answer(smallResult); err != nil {
		return result, err
	}
	for i := range perUser {
		f.quiet = append(f.quiet, callOf(floodRoom+i))
		f.flood = append(f.flood, callOf(floodRoom+perUser+i))
	}
	return f.measure(ctx)
}

func callOf(node int) *toolv1.CallToolRequest {
	user, name := nodes.Name(node, perUser)
	return &toolv1.CallToolRequest{Call: &toolv1.Call{UserId: user, NodeId: name, ToolName: tool, ArgumentsJson: []byte(arguments)}}
}

// measure runs the quiet user alone and beside the flood, in turns; each comes first in every other round.
func (f *flooded) measure(ctx context.Context) (besideFlood, error) {
	result := besideFlood{Offered: float64(f.Offered)}
	if _, err := f.segment(ctx, true); err != nil { // what could be had at once is gone, and everything is warm
		return result, err
	}
	f.answered.Store(0)
	f.refused.Store(0)
	var samples [2][]time.Duration
	ratios := make([]float64, 0, f.Rounds)
	for round := range f.Rounds {
		var p99 [2]time.Duration
		for k := range 2 {
			which := (k + round) % 2 // 1 is beside the flood
			r, err := f.segment(ctx, which == 1)
			if err != nil {
				return result, err
			}
			p99[which] = r.Quantile(0.99)
			samples[which] = append(samples[which], r.Samples...)
		}
		ratios = append(ratios, float64(p99[1])/float64(p99[0]))
	}
	took := float64(f.Rounds) * f.Segment.Seconds()
	result.Answered, result.Refused = float64(f.answered.Load())/took, float64(f.refused.Load())/took
	result.Ratio = median(ratios, func(q float64) float64 { return q })
	for i, into := range []*figures{&result.Alone, &result.Beside} {
		slices.Sort(samples[i])
		*into = figures{P50: load.Quantile(samples[i], 0.5), P99: load.Quantile(samples[i], 0.99), Calls: len(samples[i])}
	}
	return result, nil
}

// segment has the quiet user call for a while.
func (f *flooded) segment(ctx context.Context, beside bool) (load.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var floods sync.WaitGroup
	if beside {
		for i := range floodCallers {
			floods.Go(func() {
				if err := f.pour(ctx, i); err != nil {
					cancel(err)
				}
			})
		}
	}
	call := func(ctx context.Context, worker int) (int, error) {
		_, err := f.tools[worker%len(f.tools)].CallTool(ctx, f.quiet[worker%len(f.quiet)])
		return 0, err
	}
	r, err := load.Run(ctx, load.Job{Call: call, Workers: quietCallers, For: f.Segment, Calls: 1 << 20, Every: quietEvery})
	cancel(nil)
	floods.Wait()
	return r, err
}

// pour makes one caller's part of the flood until ctx ends.
func (f *flooded) pour(ctx context.Context, i int) error {
	tick := time.NewTicker(time.Second * floodCallers / time.Duration(f.Offered))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		switch _, err := f.tools[i%len(f.tools)].CallTool(ctx, f.flood[i%len(f.flood)]); {
		case err == nil:
			f.answered.Add(1)
		case ctx.Err() != nil:
			return nil
		case status.Code(err) == codes.ResourceExhausted:
			f.refused.Add(1)
		default:
			return fmt.Errorf("a call of the flood: %w", err)
		}
	}
}
