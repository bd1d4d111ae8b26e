//go:build !linux

package http1

// watch is missing here: every connection is net/http's.
type watch struct{}

func newWatch() (*watch, error) { return nil, nil }

func (*watch) add(*conn) error { return nil }
func (*watch) remove(*conn)    {}
func (*watch) forget(*conn)    {}
func (*watch) close()          {}
