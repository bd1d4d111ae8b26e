// Package live lets people follow what runs do while they do it, from any pod.
//
// What the package promises:
//
//   - A follower gets every event of its session after the one it names, in order and once, whichever pods run the session
//     meanwhile. The store is where events are; this package only makes haste: whatever it misses, because the bus was away
//     or a buffer full, it reads there.
//   - Followers on the pod of the run hear of an event without a detour over the bus.
//   - Nobody waits for a follower: neither the run nor other followers. One that does not keep up reads the store instead.
package live
