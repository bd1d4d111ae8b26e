package calls

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Kind tells how an answer finds its call.
type Kind uint8

const (
	// Tool is a JSON-RPC request, answered by its id.
	Tool Kind = iota
	// Workflow is an execute_workflow message; task_complete carries no id of the request, so the oldest one running is
	// answered (docs/protocols/zeus-nodes.md#workflows). It takes no place among max_concurrent_tasks.
	Workflow
)

// Call is one call on its way to a node.
type Call struct {
	ID       ids.CallID
	Kind     Kind
	Deadline time.Time
	// Frame is written to the socket as it is.
	Frame []byte
	// WorkflowID lets a completion that names its workflow find its call.
	WorkflowID string
}

// Status is what a caller hears while a call is not over.
type Status uint8

const (
	// Queued: the call waits for a place; the node has not seen it.
	Queued Status = iota + 1
	// Sent: the call left the queue or its workflow frame was handed to the socket.
	Sent
	// Working: the holder still waits for the answer.
	Working
)

// Sink hears of one call. Its methods must not block, and may be called from several goroutines at once: Done comes
// exactly once, and what comes after it is out of date.
type Sink interface {
	Status(Status)
	// Progress takes the params of a notifications/progress; valid during the call only.
	Progress(params []byte)
	// Done ends the call: with the node's answer, whose reference goes to the sink, or with an error of class not
	// delivered or unknown.
	Done(answer *frame.Buffer, err *errs.Error)
}
