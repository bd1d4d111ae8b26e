package errs

import (
	"maps"
	"net/http"
	"slices"

	"google.golang.org/grpc/codes"
)

// Class says what the caller of a failed call may assume.
type Class string

const (
	// NotDelivered: the node never saw the call; trying again is safe.
	NotDelivered Class = "not_delivered"
	// Unknown: the node may have run the call; nothing but the caller may try again.
	Unknown Class = "unknown"
)

// Reason says why a call was not answered. A Reason is itself an error, as a target of [errors.Is].
type Reason string

// The reasons of class [NotDelivered].
const (
	NodeNotConnected  Reason = "NODE_NOT_CONNECTED"
	NodeBusy          Reason = "NODE_BUSY"
	RequiresSelection Reason = "REQUIRES_SELECTION"
	ToolNotOffered    Reason = "TOOL_NOT_OFFERED"
	TooLarge          Reason = "TOO_LARGE"
	BusUnavailable    Reason = "BUS_UNAVAILABLE"
	Draining          Reason = "DRAINING"
	RateLimited       Reason = "RATE_LIMITED"
)

// The reasons of class [Unknown].
const (
	ToolTimeout      Reason = "TOOL_TIMEOUT"
	NodeDisconnected Reason = "NODE_DISCONNECTED"
	HolderLost       Reason = "HOLDER_LOST"
	Cancelled        Reason = "CANCELLED"
)

// row is what one reason means elsewhere.
type row struct {
	class Class
	http  int
	grpc  codes.Code
	title string
}

// 409 not delivered because of the node's or session's state, 429 too much at once, 503 try again later, 504 unknown.
var table = map[Reason]row{
	NodeNotConnected:  {NotDelivered, http.StatusConflict, codes.FailedPrecondition, "The node is not connected"},
	NodeBusy:          {NotDelivered, http.StatusTooManyRequests, codes.ResourceExhausted, "The node is busy"},
	RequiresSelection: {NotDelivered, http.StatusConflict, codes.FailedPrecondition, "Several nodes are connected; choose one"},
	ToolNotOffered:    {NotDelivered, http.StatusConflict, codes.FailedPrecondition, "The node does not offer this tool"},
	TooLarge:          {NotDelivered, http.StatusConflict, codes.InvalidArgument, "The call is too large"},
	BusUnavailable:    {NotDelivered, http.StatusServiceUnavailable, codes.Unavailable, "The cluster cannot route calls right now"},
	Draining:          {NotDelivered, http.StatusServiceUnavailable, codes.Unavailable, "This pod is shutting down"},
	RateLimited:       {NotDelivered, http.StatusTooManyRequests, codes.ResourceExhausted, "A limit of this user was met"},
	ToolTimeout:       {Unknown, http.StatusGatewayTimeout, codes.DeadlineExceeded, "The node did not answer in time"},
	NodeDisconnected:  {Unknown, http.StatusGatewayTimeout, codes.Aborted, "The node disconnected during the call"},
	HolderLost:        {Unknown, http.StatusGatewayTimeout, codes.Aborted, "The pod that held the node was lost during the call"},
	Cancelled:         {Unknown, http.StatusGatewayTimeout, codes.Canceled, "The call was cancelled"},
}

// Known reports whether r is one of this package's reasons.
func (r Reason) Known() bool { _, ok := table[r]; return ok }

// Error returns the reason's name.
func (r Reason) Error() string { return string(r) }

// Class returns what the caller may assume. An unknown reason is [Unknown]: the cautious reading.
func (r Reason) Class() Class {
	if t, ok := table[r]; ok {
		return t.class
	}
	return Unknown
}

// HTTPStatus returns the status of a REST answer.
func (r Reason) HTTPStatus() int {
	if t, ok := table[r]; ok {
		return t.http
	}
	return http.StatusGatewayTimeout
}

// GRPCCode returns the status code of a gRPC answer.
func (r Reason) GRPCCode() codes.Code {
	if t, ok := table[r]; ok {
		return t.grpc
	}
	return codes.Unknown
}

// Title returns one sentence for people.
func (r Reason) Title() string {
	if t, ok := table[r]; ok {
		return t.title
	}
	return "The outcome of the call is unknown"
}

// Reasons returns every reason, in no order.
func Reasons() []Reason { return slices.Collect(maps.Keys(table)) }
