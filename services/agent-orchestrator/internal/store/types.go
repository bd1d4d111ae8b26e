package store

import (
	"errors"
	"time"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// ErrLeaseLost says that another pod works on the run now, or that the run was cancelled, deleted or has ended.
var ErrLeaseLost = errors.New("store: the lease on the run is lost")

// ErrSequence says that the events of a change do not follow the session's last one: its holder has lost count.
var ErrSequence = errors.New("store: the events do not follow the last one")

// ErrCancelRequested says that a run may not be interrupted, because it is to be cancelled.
var ErrCancelRequested = errors.New("store: the run is to be cancelled")

// Ref names a session.
type Ref struct {
	User    ids.UserID
	Session ids.SessionID
}

// Lease is the right to work on a session's run until it is taken over.
type Lease struct {
	Ref
	Run string
	// Token grows with every lease of the session.
	Token int64

	id int64 // the session's row
}

// Status of a session.
type Status string

// The statuses.
const (
	Idle        Status = "idle"
	Running     Status = "running"
	Interrupted Status = "interrupted"
)

// Session is one conversation.
type Session struct {
	Ref
	Title        string
	Status       Status
	Mode         string
	Run          string // the active run, or the last
	FinishReason string // of the last run; "" while it runs
	LastSeq      int64
	Created      time.Time
	Updated      time.Time
	// Interrupt is what it waits for, where Status is Interrupted.
	Interrupt *agentv1.Interrupt
}

// Run is one activity of a session, from an invoke to the `complete` event that is no interrupt.
type Run struct {
	ID string
	// Settings are what a pod needs to continue the run: sealed by the caller, opaque here.
	Settings []byte
	// Steps counts the model's answers.
	Steps int
	// Streaming is the message_id of the answer that was being streamed when this was written, "" for none: a pod that adopts
	// the run says with it what its own answer replaces.
	Streaming string
	// CancelRequested says that the run is to be cancelled.
	CancelRequested bool
}

// Message is one message of a conversation. Index counts from 1 within the session, over all its conversations.
type Message struct {
	Index int
	Run   string
	// Parent is the call whose sub-agent has this conversation; "" for the user's conversation.
	Parent  string
	Role    string // one of the constants; system is a summary of the messages up to Covers
	Content string
	Calls   []MessageCall // of an assistant
	CallID  string        // of a tool: the call it answers
	Tool    string        // of a tool: its name
	// Covers, of a system message, is the Index of the last message that it sums up. The model gets the messages between that
	// one and the summary after the summary.
	Covers int
	At     time.Time
}

// MessageCall is a call as the model wrote it.
type MessageCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
	// Written is the tool's name as the model wrote it, if that is not Name.
	Written string `json:"written,omitempty"`
}

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleSystem    = "system" // a summary
)

// CallState is how far a call has come.
type CallState string

// The states of a call, in order.
const (
	// Waiting for a person.
	Waiting CallState = "waiting"
	// Ready to run: it was decided, or needed no decision.
	Ready CallState = "ready"
	// Started: it may have run. Written before anything is sent.
	Started CallState = "started"
	// Ended: its tool message is there.
	Ended CallState = "ended"
)

// Call is one call of a tool by the model. IDs are unique within a session.
type Call struct {
	ID  string
	Run string
	// Parent is the call whose sub-agent asked for this one; "" where the user's agent did.
	Parent   string
	Position int    // within the assistant message that asked for it, from 0
	Tool     string // the name for people
	Key      string // identifies the tool for good (package tool); "" if there is no such tool
	Args     []byte // a JSON object; after "modified" the changed one
	State    CallState
	// Node is the node on which a connector tool was to run when this was shown, and NodeMark says which device that was. For
	// other tools Node is empty, and NodeMark names the source.
	Node     string
	NodeMark string
	Digest   string
	// Interrupt is the id of the interrupt that asked; "" where none did.
	Interrupt string
	// Decision is what the person, or time, decided: approved, rejected, modified, timeout, cancelled.
	Decision string
	Reason   string
	Expires  time.Time // zero where nothing waits
	Decided  time.Time
}

// State is a session with all that its run needs to go on.
type State struct {
	Session
	Run Run
	// Now is the database's time when this was read.
	Now time.Time
	// Messages are the last summary and the messages that it does not cover, by Index.
	Messages []Message
	// Calls are those of the last assistant message, by position, if nothing but their results follows it.
	Calls []Call
	// Tasks are the sub-agents of those of Calls that have started.
	Tasks []Task
	// LastIndex is that of the session's last message.
	LastIndex int
	// Todos is the todo list as JSON; nil for none.
	Todos []byte
	// ToolNames says what the names of tools mean in the run, as JSON that the store does not read. A new run has none.
	ToolNames []byte
	// Skills are those that the run was given whole, likewise.
	Skills []byte
}

// Task is what a sub-agent has said and done.
type Task struct {
	// Call is the call that it does.
	Call string
	// Messages are its whole conversation, by Index.
	Messages []Message
	// Calls are those of its last answer, by position.
	Calls []Call
}

// AllCalls are the calls of the last answer. The calls of a sub-agent's last answer come before the call that it belongs to.
func (s *State) AllCalls() []Call {
	var all []Call
	for i := range s.Tasks {
		all = append(all, s.Tasks[i].Calls...)
	}
	return append(all, s.Calls...)
}

// Change is one atomic step of a run. Fields that are zero change nothing.
type Change struct {
	// Messages are appended; they carry their Index.
	Messages []Message
	// Calls are inserted, or replaced by id.
	Calls []Call
	// Events are appended; they carry their Seq, the next ones of the session.
	Events []*agentv1.Event
	// Steps, if not nil, is the new count.
	Steps *int
	// Streaming, if not nil, replaces Run.Streaming.
	Streaming *string
	// Todos, if not nil, replaces the list.
	Todos []byte
	// ToolNames and Skills, if not nil, replace the run's.
	ToolNames, Skills []byte
	// End, if not nil, ends the lease.
	End *End
}

// End is how a run stops, for good or until somebody decides.
type End struct {
	FinishReason string
	// Interrupt makes the session wait.
	Interrupt *agentv1.Interrupt
}
