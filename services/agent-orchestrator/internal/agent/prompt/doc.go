// Package prompt makes what the model is asked out of a conversation: the system prompt, what nodes and servers say, the
// messages, and the text from which a long conversation is summarised.
//
// What the package promises:
//
//   - Nothing that a node or a server says is in a system prompt; it stands as JSON in a message of its own, within bounds.
//   - Each call of an answer is followed by its result, and no result is without its call: endpoints refuse anything else.
//   - A summary is made from lines of JSON, so that no content reads as another message.
//
// All of it is functions of their arguments: nothing is kept between two calls.
package prompt
