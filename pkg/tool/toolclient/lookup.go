package toolclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

const (
	// lookEvery is how long a new gateway may wait to be found.
	lookEvery = 5 * time.Second
	// lookTimeout bounds one look-up.
	lookTimeout = 5 * time.Second
)

// watch keeps the peers those that the targets name, until ctx ends.
func (p *pool) watch(ctx context.Context) {
	for {
		p.refresh(ctx)
		timer := time.NewTimer(lookEvery)
		select {
		case <-timer.C:
		case <-p.nudge:
			timer.Stop()
			sleep.For(ctx, maxPause) // a gateway that is away asks for it with each attempt
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// key is a gateway: its address, and the target that has it.
type key struct{ address, name string }

// refresh looks the targets up. A target that cannot be looked up keeps its peers.
func (p *pool) refresh(ctx context.Context) {
	wanted := map[key]bool{}
	var failed []error
	kept := map[string]bool{}
	for _, t := range p.targets {
		addresses := []string{t.host}
		if !t.fixed() {
			var err error
			if addresses, err = p.look(ctx, t.host); err != nil {
				failed = append(failed, err)
				kept[t.String()] = true
				continue
			}
		}
		for _, address := range addresses {
			wanted[key{target{address, t.port}.String(), t.String()}] = true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	p.lookErr = errors.Join(failed...)
	p.peers = slices.DeleteFunc(p.peers, func(peer *peer) bool {
		if wanted[peer.key] || kept[peer.key.name] {
			delete(wanted, peer.key)
			return false
		}
		p.log.Info("gateway left", "gateway", peer.key.address)
		peer.leave()
		return true
	})
	for k := range maps.Keys(wanted) {
		p.add(ctx, k)
	}
	slices.SortFunc(p.peers, func(a, b *peer) int {
		return cmp.Or(cmp.Compare(a.key.address, b.key.address), cmp.Compare(a.key.name, b.key.name))
	})
}

func (p *pool) look(ctx context.Context, host string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	addresses, err := p.lookup(ctx, host)
	if err == nil && len(addresses) == 0 {
		err = fmt.Errorf("%s has no address", host)
	}
	if err != nil {
		p.log.Warn("looking up gateways failed; keeping the known ones", "host", host, "error", err)
	}
	return addresses, err
}

// add starts a peer. mu is held.
func (p *pool) add(ctx context.Context, k key) {
	// The name is what a certificate is checked against, the address where the connection goes.
	opts := append(slices.Clone(p.dial), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", k.address)
	}))
	conn, err := grpc.NewClient("passthrough:///"+k.name, opts...)
	if err != nil {
		p.lookErr = fmt.Errorf("gateway %s: %w", k.address, err)
		return
	}
	wanted, leave := context.WithCancel(ctx)
	peer := &peer{pool: p, key: k, conn: conn, leave: leave, log: p.log.With("gateway", k.address), err: errConnecting}
	p.peers = append(p.peers, peer)
	p.tasks.Go(func() { peer.run(ctx, wanted) })
}

var errConnecting = errors.New("not connected yet")
