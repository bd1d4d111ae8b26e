// Package dialects has the scenarios that every client protocol gets from the gateway, shown with a throw-away one whose frames,
// identity and topics are unlike Zeus' (package echotest): what passes here needs nothing of a dialect but its own package.
package dialects
