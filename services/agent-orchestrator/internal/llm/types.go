package llm

import "encoding/json"

// Endpoint is a model and the address of its server.
type Endpoint struct {
	// BaseURL is the address to which /chat/completions is appended.
	BaseURL     string
	APIKey      string // "" sends none
	Model       string
	Temperature *float64
	// Guarded says that a user has named the endpoint: only addresses that users may name are dialled.
	Guarded bool
}

// Role of a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one message of a request.
type Message struct {
	Role    Role
	Content string
	Calls   []Call // of an assistant
	CallID  string // of a tool
	Name    string // of a tool
}

// Call is a tool call that the model wrote. Args is exactly what it wrote, which may not be JSON.
type Call struct {
	ID   string
	Name string
	Args string
}

// Function is a tool as the model is told of it.
type Function struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Request is one request to a model.
type Request struct {
	Messages []Message
	Tools    []Function
}

// Delta is a piece of an answer: text, or a piece of one call.
type Delta struct {
	Text string
	Call *CallDelta
	// Pause says, without a piece, that no more of the answer has come yet. It follows pieces, not each one: of those that
	// came together it follows the last.
	Pause bool
}

// CallDelta is a piece of a call. Name is known from a call's first piece on and repeated, ID as soon as the endpoint
// gives one.
type CallDelta struct {
	// Index is the call's place in Answer.Calls.
	Index int
	ID    string
	Name  string
	Args  string
}

// Answer is a whole answer.
type Answer struct {
	Text string
	// Calls are in the order in which they began. A call has no ID where the endpoint gave none.
	Calls []Call
	// Finish is the model's own finish_reason.
	Finish string
	Usage  Usage
}

// Usage is how many tokens an answer took; it is estimated if the endpoint does not say.
type Usage struct {
	Prompt, Completion int
}
