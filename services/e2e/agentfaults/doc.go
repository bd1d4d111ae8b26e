// Package agentfaults tests agents' runs on whole clusters while parts are killed, paused, restarted or unreachable, while
// models and nodes fail, and while requests race: every run ends, its client's stream is complete, and no tool call runs
// twice.
package agentfaults
