// Package identity has scenarios of authentication and authorization (docs/architecture.md#identity), over real pods.
package identity
