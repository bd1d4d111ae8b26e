// Package witness finds out whether any pod has seen a call of which nothing is heard.
//
// NATS delivers at most once. A call that it lost looks like one whose holder was killed: nobody says anything. Before a
// router takes it for lost, it asks every gateway. Each one says whether it has handed the call to a node, and refuses it
// from then on, should it still come. If each of them says no, the call was not delivered, and never will be.
//
// "Every gateway" are those that were heard during the [memory] before the call was sent, or since. A pod says every second that
// it is there, and a holder takes calls only while the bus answers it (holder.stale, which is shorter): so one that took
// the call has been heard. One that is heard no more cannot answer, and the call's outcome stays unknown. A pod that ends says
// last which calls it has seen.
//
// docs/protocols/bus.md#a-call-that-nobody-has-seen has the messages, and why a call cannot run twice.
package witness
