// Package ids holds the identifiers of Hecaton as types, so that a user id cannot be passed where a node id belongs.
//
// Ids are opaque: they are never trimmed, folded or normalised. What a client may choose is checked once, where it
// enters ([Check]); inside, an id of these types is trusted to be valid.
package ids
