// Package app is the agent-orchestrator as a part of a program: configuration, wiring, start and stop.
//
// A pod is ready while its database and one gateway answer. A bus that is away makes it slower, not unready: runs go on,
// who follows a run of another pod reads the store several times a second, and a cancelled run of another pod ends when its
// lease is renewed.
package app
