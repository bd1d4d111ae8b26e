// Package access is the one table of what each service may do on the bus and in Redis: which subjects it publishes and
// hears, which keys it reaches by which commands. The servers enforce it, so that an attacker who controls one service, or
// only reaches a server's port, cannot do what another service does.
//
// What the package promises:
//
//   - The table is exact: a service may do what it does, and nothing else. The end-to-end tests run their pods under it, so
//     that a missing permission fails them.
//   - The server configurations that are deployed ([Files]) are made of it by "make manifests"; a test compares them.
//   - Answers to a service's own requests come to subjects that no other kind of service hears ([Service.Inbox]).
package access
