// Package dialect serves the sockets of client protocols: it accepts and refuses connections, finds out who connects, makes
// nodes of those that offer tools, and ends and drains all of them, the same way for every protocol.
//
// A dialect is a package below this one that declares a [Dialect]: the kinds of its clients, their routes and limits, and a
// [Protocol], which says who connects and begins a [Session] for each client that may stay. The session is the codec of its
// connection (package codec): it translates between the client's frames and the bus's format, and handles what only its own
// protocol has. Package app has the table of dialects; a dialect is one line there.
//
// A connection passes three phases, each with a type of its own:
//
//   - [Kind].Identify reads the request. Who may not stay is refused: by status where too many connect or the pod drains, else
//     by close code, which a browser can read, unlike the status of a failed upgrade.
//   - Where the request does not name the user, [Kind].Greet reads the first frame, which has to come within ten seconds.
//   - A [Client] has a user who was authenticated. Its session takes frames until the connection ends.
package dialect
