// Package load is what the load tools have in common: the benchmark of services/e2e and "hecaton bench".
//
//   - Calls from a fixed number of workers, each of which makes its next call when the one before is answered ([Run], a
//     closed loop), and calls at a fixed rate, whatever became of those before ([RunSteady] and [Due], an open loop).
//   - Quantiles of durations: exact ones of samples that are kept ([Quantile]), and those of a [Histogram], whose memory does
//     not grow with the number of samples.
//   - The frames of simulated nodes ([Registration], [Heartbeat], [Pong]), and tables of results ([Table]).
package load
