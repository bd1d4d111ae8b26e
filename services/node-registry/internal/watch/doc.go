// Package watch carries node events from the replica that changed presence to everybody who watches, on any replica.
//
// It promises to a watcher: once Watch has returned, every event that is announced is seen, in the order of each
// replica's announcements, or the watch ends with an error that says why not: the watcher fell behind, or the bus was
// lost. Events of one node from two replicas may cross; the epoch tells which is newer.
//
// It promises to a replica: announcing never waits, and one slow watcher costs a bounded number of bytes.
//
// An announcement is made once, after the change: if the replica dies between the two, the announcement is lost. A program
// that needs the state itself asks for the list.
package watch
