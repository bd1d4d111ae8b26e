package ledger

// Class is how a call ended.
type Class uint8

const (
	// Open: it has not ended.
	Open Class = iota
	// Answered: with the result that its node gave.
	Answered
	// NotDelivered: its caller was told that no node has seen it.
	NotDelivered
	// Unknown: its caller was told, or has to assume, that a node may have executed it.
	Unknown
)

// String returns the name that reports use.
func (c Class) String() string {
	return [...]string{"open", "answered", "not_delivered", "unknown"}[c]
}

// End is how a call ended, or an attempt to make it.
type End struct {
	Class Class
	// Reason is the machine's name of why it was not answered.
	Reason string
	// Err is what went wrong, for people; nil where nothing did.
	Err error
}

// Reasons of callers, beside those of package errs.
const (
	// Refused: nobody took the connection, so nothing was sent.
	Refused = "CONNECTION_REFUSED"
	// Lost: the connection ended after the request was sent, or begun to be.
	Lost = "CONNECTION_LOST"
	// TimedOut: the caller has waited as long as it wanted.
	TimedOut = "CALLER_TIMEOUT"
)
