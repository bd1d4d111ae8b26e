// Package webguard keeps the pages and extensions of a browser out of ports that its user's machine can reach.
//
// A page needs no way into the machine: the browser takes it to every port that answers there. What stops it is that the
// browser tells where a request comes from. [Guard.Check] goes by that, and by nothing that a page can choose:
//
//   - Host: a page whose name was made to resolve to this machine ("DNS rebinding") looks like the port's own, but its
//     name stays in the Host. Where a page needs nothing but a way in, only a loopback address, localhost, the address
//     that the connection came to and configured names are served.
//   - Origin: that of the port's own pages, of the reference extension, and what was configured. Nothing else, and
//     nothing for being on the same machine.
//   - Sec-Fetch-Site and Sec-Fetch-Mode, where a browser sends no Origin: pages may link to this port, not embed it.
//
// Programs send none of these; package auth authenticates them. What is refused is logged with the flag that lets it in.
package webguard
