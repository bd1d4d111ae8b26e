// Package workflow runs workflows on extensions for web clients and services, and tells every web client of the user how they
// ended (docs/protocols/zeus-nodes.md#workflows).
//
// The pod that holds the extension announces the completion itself, when task_complete comes; this package announces the ends
// that no node reports: a timeout, a lost connection, a lost pod.
package workflow
