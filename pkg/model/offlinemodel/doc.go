// Package offlinemodel is a language model for machines without one: an OpenAI-compatible endpoint that turns plain
// commands into tool calls, so that everything around a model can be seen at work without a key and without a network.
//
// It does not reason, and says so: in its help, and whenever it cannot do what it was told. What it promises:
//
//   - The answer is a function of the request: no randomness, no clock, no state between requests.
//   - The commands of the last user message are carried out one after the other, one answer each, each after the result of
//     the one before; those after "at once:" are calls of one answer. A call is made only where a tool on offer fits, but
//     "call NAME {…}" calls that tool also where it is not on offer: the result says why it cannot be called.
//   - A result that says that its call failed, was rejected or did not run ends the work. It is reported, never retried.
//   - The last answer repeats how each result begins.
//
// Commands, each of which may begin with "please":
//
//	take a [full page] screenshot
//	read the file X, list the files in X, write 'text' to X
//	run `command`
//	open URL, click SELECTOR, type 'text' into SELECTOR, get the text of SELECTOR, list the tabs
//	search my documents for X, list the knowledge bases
//	add a todo: X, show the todos, delegate: X
//	load the skill X, read FILE of the skill X
//	remember that X, what do you remember about X, forget the memory ID
//	call NAME {json}
//	say 200 words
//
// They are joined by "then", ";", new lines or as a list; "5 times" after one repeats it.
package offlinemodel
