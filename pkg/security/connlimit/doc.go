// Package connlimit bounds the connections whose client has not yet shown who it is, by address and in all.
//
// Such a connection costs memory and a file descriptor, and whoever reaches the port can make any number of them. Where
// there are too many, the one that has waited longest is closed for the one that comes, unless all have only just come: then
// those are served first, and the new one is refused. Connections of known clients are not counted.
package connlimit
