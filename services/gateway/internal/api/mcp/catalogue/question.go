package catalogue

import "errors"

// Question is something that only the person at the client can say.
type Question struct {
	// Key tells the questions of one call apart.
	Key string
	// Message is for the person.
	Message string
	// Schema is the JSON schema of the answer, an object of plain members.
	Schema []byte
	// State comes back in [Call.State] where the call ends with the question and is made again. The client cannot read or change it.
	State string
}

// Answer is what the person said.
type Answer struct {
	// Action is accept, decline or cancel.
	Action string
	// Content is an object as the question's schema has it, with accept. It is the client's word and has to be checked.
	Content []byte
}

// Accept is the action of an answer that has a content.
const Accept = "accept"

// Asked is the end of a call that has to be made again, with an answer.
type Asked struct{ Question Question }

func (a *Asked) Error() string { return "asked: " + a.Question.Message }

// ErrCannotAsk says that the client cannot ask its person.
var ErrCannotAsk = errors.New("the client cannot ask")
