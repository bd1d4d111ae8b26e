package testkit

import (
	"net"
	"testing"
)

// A port that was handed out is nobody else's while its server has not started, in this process or in another.
func TestPortsAreHandedOutOnce(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 50 {
		port := FreePort()
		if seen[port] || port < ports.first || port >= ports.first+portBlock {
			t.Errorf("port %d, with a block from %d", port, ports.first)
		}
		seen[port] = true
	}
	if block := (ports.first - firstFreePort) / portBlock; claimBlock(block) {
		t.Errorf("block %d is free for others", block)
	}
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	var port int
	t.Run("owner", func(t *testing.T) {
		port = TakenPort(t)
		if ln, err := net.Listen("tcp", loopbackAddr(port)); err == nil {
			t.Errorf("port %d is free", port)
			_ = ln.Close()
		}
	})
	for _, free := range []int{port - 1, port} {
		ln, err := net.Listen("tcp", loopbackAddr(free))
		if err != nil {
			t.Fatalf("port %d: %v", free, err)
		}
		_ = ln.Close()
	}
}
