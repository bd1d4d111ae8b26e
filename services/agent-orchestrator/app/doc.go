// Package app is the agent-orchestrator as a part of a program: configuration, wiring, start and stop.
//
// So far it is what agents will stand on: it starts, is healthy, says which build it is, and calls tools on any gateway
// ([App.Tools]). It starts without a gateway; /readyz says so until one answers.
package app
