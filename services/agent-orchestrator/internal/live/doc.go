// Package live lets people follow what runs do while they do it, from any pod.
//
// What the package promises:
//
//   - A follower gets every event of its session after the one it names, in order and once, whichever pods run the session
//     meanwhile. This package only makes events arrive sooner: what it misses, because the bus was unavailable or a buffer
//     was full, it reads from the store.
//   - Followers on the pod of the run get an event directly, not over the bus. It goes over the bus only where another pod has
//     announced that it follows the session.
//   - Nobody waits for a follower: neither the run nor other followers. One that does not keep up reads the store instead.
package live
