// Package hostile has scenarios of faulty and malicious clients: whatever they send, they harm no other user and learn
// nothing about other users.
package hostile
