// Package identity holds the scenarios of who may do what (docs/architecture.md, "Identity"), over real pods.
package identity
