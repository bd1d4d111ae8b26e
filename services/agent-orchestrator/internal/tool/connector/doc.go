// Package connector offers an agent the tools of its session's node: the user's own browser or desktop, called through any
// gateway (docs/protocols/zeus-agents.md#tool-layers).
//
// What the package promises:
//
//   - A tool has exactly the name under which its node offers it. Its description and parameters are those that the node gave
//     when it registered, quoted; for a tool of which the node gave only the name they are made (package tooldef).
//   - A node's hints change nothing: whether a tool only reads is what a table of ours says of its name.
//   - A session that is bound has its node's tools, also while the node is disconnected. A session that is not bound has the
//     tools of all connected nodes; if there are several nodes, the first call asks the user to choose one. Listing tools
//     binds nothing.
//   - If a node connected or disconnected within the last seconds, listing its tools waits a little for it.
//   - A call goes to the node that was named when the call was decided on, and only if the session still uses that node and
//     the same device answers: same type, name and system. The call names the connection at which this was checked, and
//     reaches no other. An approved call goes to the connection that existed when the person was asked, or returns a
//     [tool.Moved].
//   - Every answer of a node, whatever it is, becomes text for the model and images for the user: no answer is a failure.
//   - If the nodes' tools could not be listed ([tool.Listing.Unlisted]), a call of one of them counts as not delivered: nobody
//     is told that the tool does not exist.
//   - If a call was not answered, its [tool.Failure] says whether it may have run.
package connector
