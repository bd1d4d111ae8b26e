// Package directory remembers which node the registry picks for the calls of a user that name none.
//
// Without it each such call asks the registry, and the registry Redis. What is remembered is only the answer that depends on
// nothing but the user's nodes: the first of a type. A call in a session, or with a preferred node, always asks, so a binding
// that is changed anywhere holds from its answer on.
//
// What is remembered is forgotten when a node of the user comes, goes or changes, as the registry announces; when a call did
// not find the node; when the bus was lost, on which announcements come; and in any case after two seconds, since an
// announcement may be lost.
package directory
