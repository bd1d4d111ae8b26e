// Package relay brings what a client of an older revision says of a call to the pod where that call is open: that it is cancelled, or
// the answer to a question that was sent down its stream.
//
// Each pod follows the topics of the sessions that have calls open there, and for a while after; a message that concerns no call of
// the pod it came to is published. Nothing is kept: a cancel that comes when no pod has the call open is without effect.
package relay
