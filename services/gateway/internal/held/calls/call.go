package calls

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Call is one call on its way to a node.
type Call struct {
	ID       ids.CallID
	Kind     codec.Kind
	Deadline time.Time
	// Frame is written to the socket as it is.
	Frame []byte
	// Name is what the answer to a relayed call may call it by.
	Name string
}

// Status is what a caller is told while a call is not over.
type Status uint8

const (
	// Queued: the call waits for a place; the node has not seen it.
	Queued Status = iota + 1
	// Sent: the call left the queue, or the frame of a relayed call was handed to the socket.
	Sent
	// Working: the holder still waits for the answer.
	Working
)

// Sink is told what becomes of one call. Its methods must not block, and may be called from several goroutines at once: Done
// is called exactly once, and whatever comes after it is out of date.
type Sink interface {
	Status(Status)
	// Progress takes the params of a notifications/progress; valid during the call only.
	Progress(params []byte)
	// Done ends the call: with the node's answer, whose reference goes to the sink, or with an error of class not
	// delivered or unknown.
	Done(answer *frame.Buffer, err *errs.Error)
}
