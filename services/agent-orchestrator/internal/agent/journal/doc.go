// Package journal writes down what a run does: each batch of messages, calls and events is numbered, stored, and only then
// published to those who follow the session.
//
// What the package promises:
//
//   - Events and messages of a session are numbered without gaps, in the order in which they were written.
//   - Nothing is published that is not stored. Once a batch could not be stored, no later one of that run is.
//   - Several goroutines may use a [Writer]; a [Batch] belongs to one at a time.
package journal
