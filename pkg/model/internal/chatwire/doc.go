// Package chatwire is the server's half of the chat completions interface that language models are asked through: what a
// request says, and how an answer is written, streamed or whole. It holds no more of it than agents use.
//
// Everything it writes is a function of what it is given: no clock, no random ids.
package chatwire
