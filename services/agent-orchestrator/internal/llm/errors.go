package llm

import "time"

// Code tells clients what went wrong (docs/protocols/zeus-agents.md#errors-of-a-run).
type Code string

// The codes.
const (
	Unauthorized     Code = "Unauthorized"
	RateLimited      Code = "RateLimited"
	ContextOverflow  Code = "ContextOverflow"
	InputTooLong     Code = "InputTooLong"
	ModelUnavailable Code = "ModelUnavailable"
	ModelProtocol    Code = "ModelProtocol"
)

// Error says why an answer did not come, or is incomplete.
type Error struct {
	Code Code
	// Message is for people, and has nothing of the prompt, the answer or the key.
	Message string
	// Started says that pieces of the answer had come.
	Started bool
	// Err is the cause, if it is safe to show.
	Err error

	again bool          // sending the request again can help
	after time.Duration // what the endpoint asks to wait before that
	plain bool          // the endpoint wants no stream_options
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
