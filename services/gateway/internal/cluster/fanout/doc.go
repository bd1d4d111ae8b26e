// Package fanout writes frames to the clients that follow a topic: to all of them, or to the one that asked, on whichever
// pods they are.
//
// A pod hears of a topic's frames only while it has a client that follows the topic.
package fanout
