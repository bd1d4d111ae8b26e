// Package holder makes this pod the holder of a node, and lets go of it: the node's place in the registry, its subjects
// on the bus and its entry in the hub, in the one order that never leaves two pods holding the same node.
//
// To take hold: enter the hub, subscribe, register for an epoch, then fence. Who sees a node in the registry can call it,
// so the registry comes after the bus. The fence goes to every other pod that is subscribed; since it comes after our own
// subscription, of two pods that take hold at the same time at least one hears of the other, and the smaller epoch
// leaves. A pod that was off the bus fences again when it is back. Epochs follow the clock of the store (see the registry),
// so they keep growing when the store loses its data; where the registry is away altogether, a pod takes its own clock
// (of two equal ones the pods' names decide) and registers later: routing never waits for presence.
//
// To let go: leave the hub, stay subscribed, and say that the node is not here until the next holder's fence, for five seconds at
// most. Calls that are on their way then are refused; nobody would hear of them if the last subscriber left first.
//
// While it holds nodes it serves their subjects: calls, other frames, cancellations and fences of later holders.
package holder
