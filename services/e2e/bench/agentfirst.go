package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// measureFirst takes the time until the first token through gateway and orchestrator, and from the model itself.
func (a *agents) measureFirst(ctx context.Context, o options, r *agentReport) error {
	const message = "say 3 words"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4, DisableCompression: true}}
	defer client.CloseIdleConnections()
	type way struct {
		name    string
		request func(context.Context) (*http.Request, error)
		mark    []byte
	}
	ways := []way{{wayDirect, a.direct(message), modelText}}
	for _, p := range a.ours {
		ways = append(ways, way{p.name, a.throughEdge(p, message), edgeText})
	}
	ask := func(w way) (time.Duration, error) {
		req, err := w.request(ctx)
		if err != nil {
			return 0, err
		}
		h, err := readStream(client, req, w.mark, nil)
		if err != nil {
			return 0, err
		}
		return h.pieces[0].Sub(h.began), nil
	}
	series := make([]agentSeries, len(ways))
	all := make([][]time.Duration, len(ways))
	for round := range a.Rounds + 1 {
		samples := make([][]time.Duration, len(ways))
		for n := range a.FirstTokens {
			for k := range ways { // one request each, in turns
				i := (k + n) % len(ways)
				d, err := ask(ways[i])
				if err != nil {
					return err
				}
				samples[i] = append(samples[i], d)
			}
		}
		if round == 0 {
			continue
		}
		for i := range ways {
			series[i].Rounds = append(series[i].Rounds, sumUp(samples[i]))
			all[i] = append(all[i], samples[i]...)
		}
	}
	for i, w := range ways {
		series[i].Way, series[i].Overall = w.name, sumUp(all[i])
	}
	r.First = series
	if o.Profiles == "" {
		return nil
	}
	for i, p := range a.ours {
		stop, err := o.profile(map[string]*proc.Child{"gateway": p.edge.Child, "orchestrator": p.Child}, "agents, first token, "+p.name)
		if err != nil {
			return err
		}
		for end := time.Now().Add(o.ProfileFor); err == nil && time.Now().Before(end); {
			_, err = ask(ways[i+1])
		}
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
	}
	return nil
}
