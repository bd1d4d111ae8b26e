// Package fleet simulates the clients that hold a connection: nodes, which answer calls and note what they were given, and
// web clients that do not read.
//
// A node speaks the protocol of package node, with the same pauses before it connects again, the same heartbeats, and the
// same patience with a silent gateway. It keeps no more than a simulated one needs, so that a process holds thousands: it
// remembers no ids of calls, since a call that comes twice is what is looked for, and it comes back also where a program
// would have ended, which is counted.
package fleet
