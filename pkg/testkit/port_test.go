package testkit

import "testing"

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
