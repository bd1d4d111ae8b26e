package connector

import "time"

// Hurry makes a source wait for nodes only as long as a test does.
func Hurry(s *Source, returning, settling, relist time.Duration) {
	s.patience = patience{returning: returning, settling: settling, relist: relist}
}
