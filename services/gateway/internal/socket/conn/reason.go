package conn

import "github.com/coder/websocket"

// Reason says why a connection ended. It feeds the log, the metric and the close code.
type Reason uint8

// The reasons. Codes from 4000 up are Hecaton's own; 4001 is Zeus's (docs/protocols/zeus-nodes.md#close-codes).
const (
	Open Reason = iota
	ClientClosed
	NetworkLost
	MissingID
	NotAllowed
	TokenExpired
	TokenRevoked
	NoHeartbeat
	TooManyNodes
	Superseded
	Draining
	GoingAway
	FrameTooBig
	ProtocolError
	Overloaded
	SlowReader
)

var reasons = [...]struct {
	label string
	code  websocket.StatusCode
	text  string
}{
	Open:          {"open", 0, ""},
	ClientClosed:  {"client_closed", websocket.StatusNormalClosure, ""},
	NetworkLost:   {"network_lost", 0, ""},
	MissingID:     {"missing_id", 4001, "Missing client_id or user_id"},
	NotAllowed:    {"not_allowed", 4003, "Not allowed"},
	TokenExpired:  {"token_expired", 4003, "The token has expired, connect again with a new one"},
	TokenRevoked:  {"token_revoked", 4003, "The token was revoked"},
	NoHeartbeat:   {"no_heartbeat", 4008, "No heartbeat for too long"},
	TooManyNodes:  {"too_many_nodes", 4009, "Too many nodes of this user are connected"},
	Superseded:    {"superseded", 4409, "The same node connected again"},
	Draining:      {"draining", websocket.StatusServiceRestart, "The pod is shutting down, connect again"},
	GoingAway:     {"going_away", websocket.StatusGoingAway, "The pod is going away, connect again"},
	FrameTooBig:   {"frame_too_big", websocket.StatusMessageTooBig, "Frame too big"},
	ProtocolError: {"protocol_error", websocket.StatusProtocolError, "WebSocket protocol error"},
	Overloaded:    {"overloaded", websocket.StatusTryAgainLater, "Overloaded, try again later"},
	SlowReader:    {"slow_reader", websocket.StatusTryAgainLater, "The client does not read"},
}

// String returns the reason as a log or metric label.
func (r Reason) String() string { return reasons[r].label }

// Code returns the WebSocket close code; 0 where none can be sent.
func (r Reason) Code() int { return int(reasons[r].code) }

// Text returns the close frame's text.
func (r Reason) Text() string { return reasons[r].text }

// Reasons returns all reasons why a connection ends, for metrics that exist before the first event.
func Reasons() []Reason {
	all := make([]Reason, 0, len(reasons)-1)
	for r := range reasons[1:] {
		all = append(all, Reason(r+1))
	}
	return all
}
