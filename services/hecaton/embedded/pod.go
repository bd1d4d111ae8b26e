package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// runner is the app of a service.
type runner interface {
	// Run serves until ctx ends and returns once everything has stopped.
	Run(ctx context.Context) error
	// Started is closed once it serves.
	Started() <-chan struct{}
	AdminAddr() string
}

// pod is one service that runs.
type pod struct {
	name   string
	app    runner
	cancel context.CancelFunc
	ended  chan struct{} // closed when Run has returned
	err    error         // what it returned; static once ended is closed
}

// launch starts a pod and waits until it serves. ctx bounds the starting only; the pod lives on after it.
func launch(ctx context.Context, name string, app runner, ports map[Role]string) (*pod, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &pod{name: name, app: app, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = app.Run(life)
	}()
	select {
	case <-app.Started():
		return p, nil
	case <-p.ended:
		cancel()
		return nil, failure(name, p.err, ports)
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("%s has not started: %w", name, ctx.Err()), p.stop())
	}
}

// failure makes the error of a listener with a port of its own a PortError.
func failure(name string, err error, ports map[Role]string) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "listen" {
		for role, address := range ports {
			if tcp, ok := op.Addr.(*net.TCPAddr); ok && tcp.Port != 0 && strings.HasSuffix(address, fmt.Sprintf(":%d", tcp.Port)) {
				return &PortError{Pod: name, Role: role, Port: tcp.Port, Err: op.Err}
			}
		}
	}
	if err == nil {
		err = errors.New("it ended by itself")
	}
	return fmt.Errorf("%s: %w", name, err)
}

// stop ends the pod in good order.
func (p *pod) stop() error {
	p.cancel()
	<-p.ended
	if p.err != nil {
		return fmt.Errorf("%s: %w", p.name, p.err)
	}
	return nil
}

// readyEvery is how often a pod is asked whether it is ready.
const readyEvery = 10 * time.Millisecond

// ready waits until the pod's /readyz says so.
func (p *pod) ready(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		problem := p.probe(ctx, client)
		if problem == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("%s has ended: %w", p.name, errors.Join(p.err, problem))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", p.name, problem)
		}
	}
}

func (p *pod) probe(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second) // so that the last answer is a reason
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.app.AdminAddr()+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var body struct {
		Failing map[string]string `json:"failing"`
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || json.Unmarshal(raw, &body) != nil {
		return fmt.Errorf("/readyz answers %s", resp.Status)
	}
	var reasons []error
	for name, reason := range body.Failing {
		reasons = append(reasons, fmt.Errorf("%s: %s", name, reason))
	}
	return errors.Join(reasons...)
}
