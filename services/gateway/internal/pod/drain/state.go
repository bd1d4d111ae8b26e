package drain

import (
	"fmt"
	"time"
)

// State is how far a drain has come. It only moves forward.
type State uint8

// The states; their numbers are those of the metric.
const (
	// Serving: nobody drains the pod.
	Serving State = iota
	// Draining: the pod is not ready, refuses new sockets, and its connections are told to leave one after the other.
	Draining
	// Drained: nobody is connected any more. Calls that come are still answered until the program ends.
	Drained
)

var states = [...]string{Serving: "serving", Draining: "draining", Drained: "drained"}

// String returns the state as the admin port tells it.
func (s State) String() string { return states[s] }

// MarshalText implements [encoding.TextMarshaler].
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range states {
		if name == string(text) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no state of a drain", text)
}

// Status is what the admin port tells of a drain.
type Status struct {
	State State `json:"state"`
	// ConnectionsLeft is how many connections the pod has, Serving included.
	ConnectionsLeft int `json:"connections_left"`
	// CallsOpen is how many calls run at the pod's nodes, or came through the pod and run elsewhere.
	CallsOpen int `json:"calls_open"`
	// Since is when the state began; Began when the drain did, and zero before.
	Since time.Time `json:"since"`
	Began time.Time `json:"began,omitzero"`
}
