// Package seal keeps what must not be read by whoever reads the database: settings of runs with their keys, tokens of
// users, secrets of saved tools (docs/architecture.md#agents-at-the-edge).
//
// A value is sealed with AES-256-GCM under the first of the configured keys and opened with whichever sealed it, so that a
// key is replaced by putting a new one in front. It is bound to its user and purpose: moved to another row it does not
// open. A sealed value is
//
//	version (1 byte) | id of the key (8 bytes) | nonce (12 bytes) | text | tag (16 bytes)
package seal
