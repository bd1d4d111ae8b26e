// Package chat is a conversation with an agent in a terminal, over the REST API and the event streams of any gateway.
//
// What the package promises:
//
//   - What an agent or a tool says cannot drive the terminal: control characters are shown, not obeyed ([Safe]).
//   - A stream that breaks off is picked up at the next gateway where it was, without a gap and without saying anything
//     twice ([Client]).
//   - Nothing is approved that was not shown: a decision carries the digest of what was on the screen.
//   - Nobody there to decide means that nothing is decided: the run waits, for hours if need be.
package chat
