package envelope

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// ControlKind tells apart what all holders of a node hear.
type ControlKind string

const (
	// Cancel ends a call whose caller has given it up, see [EndCall].
	Cancel ControlKind = "cancel"
	// Fence says that a later connection of the node exists, and waits for an answer.
	Fence ControlKind = "fence"
)

// Control returns a message to all holders of a node.
func Control(subject string, kind ControlKind, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Header: nats.Header{headerControl: {string(kind)}}, Data: data}
}

// ControlOf returns the kind of a message made by [Control]; empty where it has none.
func ControlOf(m *nats.Msg) ControlKind { return ControlKind(get(m.Header, headerControl)) }

// EndCall returns the message of kind [Cancel] that gives a call up.
func EndCall(subject string, id ids.CallID, reason string) *nats.Msg {
	return Control(subject, Cancel, append(append([]byte(id), ' '), reason...))
}

// EndedCall reads a message made by [EndCall].
func EndedCall(m *nats.Msg) (id ids.CallID, reason string) {
	before, after, _ := strings.Cut(string(m.Data), " ")
	return ids.CallID(before), after
}
