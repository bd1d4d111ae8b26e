// Package names gives each tool of each device of a user the names by which clients of /mcp call it.
//
// A tool has a long name, made of its device's id and its own name, and may have a short one, which is its own name. What a name
// promises:
//
//   - It means one tool on one device, and never comes to mean another: a short name that was given stays with its device, also
//     while that is away. The bindings are kept by the orchestrators, in their database; whoever claims a name first has it.
//   - It has at most [MaxBytes] of [a-zA-Z0-9_-]: clients and models take no more. A long name that had to be cleaned or cut ends
//     with a hash of what it was made of.
//
// The tools of services, which run on no device, have long names alone, of the same form and from the same keeper: of a service and a
// device that would have the same one, who was first has it, and the other has one with a hash.
//
// A tool gets its short name when it is listed for the first time while no other device of the user has a tool of that name. A name
// that several devices have at that moment is nobody's short name, for ever: so no list ever changes the name of a tool.
package names
