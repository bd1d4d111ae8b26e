// Package seal encrypts what must stay secret even from someone who reads the database: settings of runs with their keys,
// tokens of users, secrets of saved tools (docs/architecture.md#agents-at-the-edge).
//
// A value is sealed with AES-256-GCM under the first of the configured keys, and opened with the key that sealed it, so that
// a key is replaced by putting a new one in front. A value is bound to its user and purpose: it cannot be opened from another
// user's row, or for another purpose. A sealed value is
//
//	version (1 byte) | id of the key (8 bytes) | nonce (12 bytes) | text | tag (16 bytes)
package seal
