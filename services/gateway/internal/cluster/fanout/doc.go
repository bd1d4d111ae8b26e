// Package fanout writes frames to the clients that follow a topic: to all of them, or to the one that asked, on whichever
// pods they are.
//
// A pod gets the frames of a topic only while it has a client that follows the topic.
package fanout
