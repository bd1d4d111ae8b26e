// Package conformance runs the official conformance suite of MCP against the front door: each revision, against one pod, against
// another, and through a balancer that sends every request to another pod than the one before. The suite's tools run at a device,
// which is connected to the first pod.
//
// The suite is a program for Node.js, so its test is behind a build tag: scripts/mcp-conformance.sh fetches both and runs it.
package conformance
