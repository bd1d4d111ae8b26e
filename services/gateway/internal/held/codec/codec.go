package codec

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Reader is the part of a codec that every client has. Its methods must not block.
type Reader interface {
	// Read says what a frame of the client means. It runs on the connection's reader and keeps no reference to the frame,
	// except in the message that it returns.
	Read(*frame.Buffer) Message
	// Ping returns the frame that asks for a sign of life; nil where the client answers none.
	Ping(now time.Time) []byte
}

// Codec is the wire format of one connected node. Its methods must not block; Call, Cancel, Forward and Ping may be called
// from several goroutines at once, also before the first Read.
type Codec interface {
	Reader
	// Call returns what the node reads of a call. The error ends the call and has to be of class not delivered.
	Call(Call) (Wire, *errs.Error)
	// Cancel returns the frame that tells the node that nobody waits for a tool call any more; nil where the dialect has
	// none.
	Cancel(id ids.CallID, reason string) []byte
	// Forward writes with send a frame that is no call and that came from another client of the dialect or from a service.
	// asker is the client that waits for what the node will say; empty where none does. The error is send's, or an
	// *errs.Error of class not delivered.
	Forward(frame []byte, asker string, send func(frame []byte) error) error
}

// Kind tells what a call's frame is on the bus and how its answer finds it.
type Kind uint8

const (
	// ToolCall is a JSON-RPC request. It takes one of the node's places, and its answer carries its id.
	ToolCall Kind = iota
	// Relayed is a request in the dialect's own words, from another of its clients. It takes no place and cannot be
	// cancelled. Its answer carries no id: it belongs to the call that has the name in the answer or, where there is no name
	// in it, to the oldest.
	Relayed
)

// Call is a call as it came from the bus or from this pod's router.
type Call struct {
	ID          ids.CallID
	Kind        Kind
	Frame       []byte // must not be changed
	Traceparent string // W3C trace context; empty where there is none
	// Node is what the node last said about itself.
	Node *nodev1.NodeInfo
}

// Wire is a call as its node reads it.
type Wire struct {
	Frame []byte
	// Name is what the answer to a relayed call may call it by.
	Name string
	// Operation names a relayed call in traces.
	Operation string
}
