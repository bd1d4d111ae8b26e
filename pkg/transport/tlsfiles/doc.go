// Package tlsfiles makes the two sides of TLS of PEM files, for every connection between the parts of a cluster.
//
// What the package promises:
//
//   - Files are read for each connection, so that a certificate or an authority that was renewed counts from the next
//     connection on, without a restart. Connections between services are few and live long.
//   - The other side is always verified: a server by its name, a client by the authorities. TLS is 1.3 between services and
//     at least 1.2 towards other servers.
package tlsfiles
