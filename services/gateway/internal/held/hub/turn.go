package hub

import (
	"math"
	"sync/atomic"
	"time"
)

// turn is when the pulse has something to do for a node next. The pulse goes through all nodes every second and looks closer only at
// those whose turn it is: one number of each is all that it reads of the others.
type turn struct {
	at atomic.Int64 // Unix nanoseconds; zero is at once, busy while the pulse looks
}

const busy = math.MaxInt64

// soon makes it the node's turn. It may be called from anywhere, also while the pulse looks.
func (t *turn) soon() { t.at.Store(0) }

func (t *turn) due(now int64) bool { return t.at.Load() <= now }

// begin and end are around a look of the pulse. What asked for the node's turn meanwhile is not lost: it is the node's turn again.
func (t *turn) begin()             { t.at.Store(busy) }
func (t *turn) end(next int64)     { t.at.CompareAndSwap(busy, next) }
func nextTick(now time.Time) int64 { return now.UnixNano() + 1 }
