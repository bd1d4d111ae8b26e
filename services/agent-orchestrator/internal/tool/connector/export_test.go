package connector

import "time"

// Hurry makes a source wait for nodes only as long as a test does.
func Hurry(s *Source, returning, settling, relist time.Duration) {
	s.patience = patience{returning: returning, settling: settling, relist: relist}
}

// Trust makes a source look again only so long after a call was placed.
func Trust(s *Source, trusted time.Duration) { s.patience.trusted = trusted }
