// Package floods has scenarios in which one user sends as much as possible: through all pods together this user gets no
// more than the limits allow, and other users are not affected.
package floods
