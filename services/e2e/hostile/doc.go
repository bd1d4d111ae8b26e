// Package hostile holds the scenarios of clients that err or mean harm: whatever they send, they hurt nobody else and
// learn nothing of other users.
package hostile
