// Package drain empties a pod without losing a call (docs/architecture.md#drain).
//
// What it promises:
//
//   - A [Job] runs once, whether the admin port or the end of the program starts it. A second request joins it.
//   - It first waits until load balancers have noticed. Then it takes the connections in random order: each gets no new
//     calls, finishes what it runs, and is told to connect again elsewhere.
//   - The pace ([Pace]) spreads the reconnections in time: a handful is not held up, and thousands do not come in a burst.
//     Each pause is jittered.
//   - Connections that come while it runs are taken like the others. It is done when none is left.
//   - When the program ends, it keeps to what is left of the grace period, whatever spread it was given. Then it cuts off
//     what is left; callers hear that the outcome is unknown.
package drain
