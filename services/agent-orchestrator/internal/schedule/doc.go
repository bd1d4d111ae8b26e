// Package schedule has agents do something at set times (docs/scheduled-tasks.md), and tells users what came of it.
//
// Any number of pods look at the same tasks. A firing is one row, made together with the change of when its task fires next, so that each
// firing is made once; its run is begun under the firing's id as idempotency key, so that it is begun once, also where the pod that made it
// is gone and another one begins it. Which way a run has gone is read from its session, and written by the pod that is first.
package schedule
