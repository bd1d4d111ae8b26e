// Package identity holds the scenarios of who may do what (docs/architecture.md#identity), over real pods.
package identity
