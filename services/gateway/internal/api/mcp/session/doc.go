// Package session makes what clients of /mcp carry from request to request, so that any pod can serve the next one: the ids of the
// sessions of older revisions, and the state of calls that wait for an answer of their person.
//
// Both are sealed for their user under a key that all pods share. Nothing is kept in a pod: an id that was changed, or belongs
// to another user, does not open, and is answered like one that never was.
package session
