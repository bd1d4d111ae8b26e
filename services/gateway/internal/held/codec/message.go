package codec

import (
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Meaning is what a client says with a frame.
type Meaning uint8

const (
	// Alive is a ping, a pong, or anything else that asks for no more than Reply.
	Alive Meaning = iota
	// Answer ends the tool call whose id is in Call.
	Answer
	// Progress is news of the tool call whose id is in Call.
	Progress
	// Status says how busy the node is.
	Status
	// Register says what the node is. Reply is sent once the cluster has heard of it.
	Register
	// Malformed frames are counted.
	Malformed
	// Unknown frames are well-formed and of no use; they are counted.
	Unknown
	// Other frames are for the dialect's own session, which finds in Type what it is.
	Other
)

// Registration is what a node says of itself.
type Registration struct {
	Info *nodev1.NodeInfo
	// Tools are the definitions that Info.tools_digest names; zero where the node gave none.
	Tools tooldef.Set
	// Refused is how many definitions were not taken, and Remark the frame that tells the node of them, behind the reply; nil
	// where there are none.
	Refused int
	Remark  []byte
}

// Message is what one frame means. Only the fields that go with the meaning are set.
type Message struct {
	Means Meaning
	// Reply is sent to the client at once, except after Register; nil for none.
	Reply []byte
	Call  ids.CallID
	// Answer is the answer in the bus's format: the frame itself where the client speaks JSON-RPC, else a buffer of its own.
	Answer *frame.Buffer
	// Params are those of a notifications/progress; valid as long as the frame.
	Params []byte
	// Registration is what the node says of itself.
	Registration *Registration
	Status       nodev1.NodeStatus
	Tasks        int32
	// Type and Name are the dialect's own: what it is, and which.
	Type, Name string
}
