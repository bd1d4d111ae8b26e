package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

const loopback = "127.0.0.1"

func loopbackAddr(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// Ports that no kernel hands out by itself (Linux from 32768, others from 49152): the port of a stopped server stays free
// until the server comes back, whatever the clients that keep dialling it are given as their own ports. Each process takes
// its ports from a block of its own, since a port that is free just now is anybody's until its server listens.
const (
	firstFreePort = 20000
	lastFreePort  = 32000
	portBlock     = 240
	portBlocks    = (lastFreePort - firstFreePort) / portBlock
)

var ports struct {
	claim sync.Once
	first int // of this process's block; static after claim

	mu   sync.Mutex
	next int // guarded by mu
}

// FreePort returns a loopback port that nobody listens on just now and that stays free while its server is down: a port for
// what must come back where it was. Where nothing restarts, listen on port 0 instead.
func FreePort() int {
	ports.claim.Do(func() {
		block := rand.IntN(portBlocks)
		for range portBlocks {
			if claimBlock(block) {
				break
			}
			block = (block + 1) % portBlocks
		} // with more processes than blocks some share one
		ports.first = firstFreePort + block*portBlock
	})
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for {
		port := ports.first + ports.next%portBlock
		ports.next++
		ln, err := net.Listen("tcp", loopbackAddr(port))
		if err == nil {
			_ = ln.Close() // a listener without connections closes at once
			return port
		}
	}
}

// TakenPort returns a loopback port on which somebody listens until the test ends, while nobody does on the port before: a
// row of servers that begins there finds its second port in use.
func TakenPort(t testing.TB) int {
	t.Helper()
	for {
		before, port := FreePort(), FreePort()
		if port != before+1 { // the block was over, or another test was between
			continue
		}
		ln, err := net.Listen("tcp", loopbackAddr(port))
		if err == nil {
			t.Cleanup(func() { _ = ln.Close() }) // a listener without connections closes at once
			return port
		}
	}
}
