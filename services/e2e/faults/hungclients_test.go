package faults_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A gateway hangs while its clients' sockets stay open: nodes of the SDK notice by themselves, and are at another gateway in less than
// 15 s. Nodes of a gateway that is well stay where they are.
func TestNodesLeaveAGatewayThatHangs(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, GatewayProcesses: 1})
	well, hung := c.Gateways[0], c.Gateways[1]
	var entry atomic.Pointer[string] // what a load balancer gives new connections to
	entry.Store(&hung.HTTP)
	moves := stay(t, "moves", &entry)
	var other atomic.Pointer[string]
	other.Store(&well.HTTP)
	stays := stay(t, "stays", &other)
	soon(t, func() bool { return reaches(t, c, call("u", "moves"), "moves") }, "the node is there")

	began := time.Now()
	entry.Store(&well.HTTP)
	hung.Process.Pause(t)
	c.Gateways = c.Gateways[:1]
	select {
	case <-moves.left:
	case <-time.After(20 * time.Second):
		t.Fatal("the node waits for a gateway that hangs")
	}
	<-moves.Connected()
	took := time.Since(began)
	t.Logf("after %v", took.Round(time.Millisecond))
	if took > 15*time.Second {
		t.Errorf("the node was elsewhere after %v", took)
	}
	// A call that the bus gives to the gateway that hangs waits for some seconds.
	soon(t, func() bool { return reaches(t, c, call("u", "moves"), "moves") }, "the node can be called")
	select {
	case <-stays.left:
		t.Error("a node left a gateway that is well")
	default:
	}
	hung.Process.Continue(t)
}

// own is a node of the SDK.
type own struct {
	*node.Node
	left chan struct{}
}

// stay connects a node of the SDK to whatever entry names, for the length of the test.
func stay(t *testing.T, id string, entry *atomic.Pointer[string]) own {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, *entry.Load())
	}}
	o := own{left: make(chan struct{}, 100)}
	n, err := node.New(node.Options{
		Server: "ws://127.0.0.1", UserID: "u", NodeID: id, HTTPClient: &http.Client{Transport: transport},
		OnState: func(s node.State) {
			if s.Phase == node.Disconnected {
				o.left <- struct{}{}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Node = n
	n.Handle("click", func(context.Context, node.Call) (node.Result, error) { return node.Text("I am " + id), nil })
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("node %s: %v", id, err)
		}
	})
	select {
	case <-n.Connected():
	case err := <-ended:
		ended <- err
		t.Fatal("the node did not connect")
	}
	return o
}
