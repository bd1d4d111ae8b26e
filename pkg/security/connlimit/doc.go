// Package connlimit bounds the connections whose client has not yet shown who it is, by address and in all.
//
// Such a connection costs memory and a file descriptor, and whoever reaches the port can make any number of them. When there
// are too many, the oldest one is closed in favour of the new one, unless all are very new: then the new one is refused.
// Connections of known clients are not counted.
package connlimit
