package nodes

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// beatTick is how often heartbeats are sent, those that are due together: a machine that simulates many nodes is else busy with
// waking one thread for each.
const beatTick = 50 * time.Millisecond

// Beat makes every node that is connected now send a heartbeat at each interval, until the fleet's end. The heartbeats are
// spread evenly over the interval, in the order of the nodes' names, as those of nodes that connected at different times
// are.
func (f *Fleet) Beat(every time.Duration, _ *struct{}) error {
	f.mu.Lock()
	nodes := f.nodes
	f.mu.Unlock()
	f.work.Go(func() { f.beat(nodes, every) })
	return nil
}

// beat is one goroutine for all nodes: a timer for each would be most of what an idle node costs.
func (f *Fleet) beat(nodes []*node, every time.Duration) {
	start := time.Now()
	tick := time.NewTicker(min(beatTick, every))
	defer tick.Stop()
	for turn := 0; ; {
		for due := int(time.Since(start) * time.Duration(len(nodes)) / every); turn <= due; turn++ {
			if w := nodes[turn%len(nodes)].wire.Load(); w != nil {
				_ = w.write(opText, load.Heartbeat) // where it fails the node's reader sees the end
			}
		}
		select {
		case <-tick.C:
		case <-f.ctx.Done():
			return
		}
	}
}
