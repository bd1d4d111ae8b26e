package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
)

const (
	// lookEvery is how often a name is looked up: how long a new replica may wait for its share.
	lookEvery = 5 * time.Second
	// lookAgain is how long after a look-up the next one may be, where an address fails or none is known.
	lookAgain = 500 * time.Millisecond
	// lookTimeout bounds one look-up.
	lookTimeout = 5 * time.Second
)

// names resolves dns:///host:port, and dns://server/host:port, by looking the host up again and again. The resolver of gRPC
// looks only when an address fails, and not within 30 s of the last time: replicas that are replaced one after the other
// are all gone before it knows their successors, and those that are added get nothing. It also takes the answer that there
// is no such host, as of a headless service none of whose pods is ready, for a reason to leave those that it has.
type names struct{}

// Scheme implements [resolver.Builder].
func (names) Scheme() string { return "dns" }

// Build implements [resolver.Builder].
func (names) Build(t resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	host, port, err := net.SplitHostPort(t.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("%q is no host:port: %w", t.Endpoint(), err)
	}
	n := &name{host: host, port: port, cc: cc, server: net.DefaultResolver, nudge: make(chan struct{}, 1)}
	if t.URL.Host != "" {
		server := authority(t.URL)
		n.server = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.work.Go(func() { n.watch(ctx) })
	return n, nil
}

// authority is the DNS server that a target names.
func authority(u url.URL) string { return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "53")) }

// name is one host that is looked up.
type name struct {
	// Static after construction.
	host, port string
	server     *net.Resolver
	cc         resolver.ClientConn
	nudge      chan struct{} // capacity 1; asks for a look-up soon
	cancel     context.CancelFunc
	work       sync.WaitGroup

	known []string // owned by watch
}

// ResolveNow implements [resolver.Resolver]: an address has failed.
func (n *name) ResolveNow(resolver.ResolveNowOptions) {
	select {
	case n.nudge <- struct{}{}:
	default:
	}
}

// Close implements [resolver.Resolver].
func (n *name) Close() {
	n.cancel()
	n.work.Wait()
}

func (n *name) watch(ctx context.Context) {
	if ip := net.ParseIP(n.host); ip != nil {
		n.use([]string{n.host})
		return
	}
	for {
		err := n.look(ctx)
		lost := err != nil && len(n.known) == 0
		if lost && ctx.Err() == nil {
			n.cc.ReportError(err)
		}
		if !pause(ctx, lookAgain, nil) {
			return
		}
		// Where addresses are known and work, a server of names that is away is not asked more often than one that answers.
		if !lost && !pause(ctx, lookEvery-lookAgain, n.nudge) {
			return
		}
	}
}

// look asks for the addresses. Where there is no answer those known are kept.
func (n *name) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	addrs, err := n.server.LookupHost(ctx, n.host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return fmt.Errorf("look %s up: %w", n.host, err)
	}
	n.use(addrs)
	return nil
}

// use tells gRPC of addresses, where they are others than before.
func (n *name) use(addrs []string) {
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	if slices.Equal(addrs, n.known) {
		return
	}
	n.known = addrs
	var state resolver.State
	for _, a := range addrs {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{
			Addresses: []resolver.Address{{Addr: net.JoinHostPort(a, n.port)}},
		})
	}
	_ = n.cc.UpdateState(state) // a balancer that cannot use them says so to who calls
}

// pause waits for about d, or until somebody asks for an end; false at the end of ctx.
func pause(ctx context.Context, d time.Duration, enough <-chan struct{}) bool {
	timer := time.NewTimer(d*9/10 + rand.N(d/5))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-enough:
		return true
	case <-ctx.Done():
		return false
	}
}
