// Package connector offers an agent the tools of its session's node: the user's own browser or desktop, called through any
// gateway (docs/protocols/zeus-agents.md#tool-layers).
//
// What the package promises:
//
//   - A tool is offered under exactly the name under which its node offers it. Nodes tell names only; what a model is told
//     beyond that comes from a table of well-known tools (known.json), and an unknown tool takes any object.
//   - A session that is bound has its node's tools, also while the node is away. One that is not, with several nodes
//     connected, has all of theirs, and the first call asks for a choice. Listing tools binds nothing.
//   - A node that went away, or came, within the last seconds is waited for a little before its tools are listed.
//   - A call goes to the node that was named when it was decided on, and only while the session still leads there and the
//     same device answers: type, name and system. It names the connection that this was seen of, and reaches no other. What a
//     person approved goes to the connection that was there when the person was asked, or comes back as a [tool.Moved].
//   - What a node answers, whatever it is, becomes text for the model and images for the user: no answer is a failure.
//   - Where the nodes' tools could not be looked up ([tool.Listing.Unlisted]), a call of one of them was not delivered: nobody is
//     told that there is no such tool.
//   - Of a call that was not answered the [tool.Failure] says whether it may have run.
package connector
