//go:build !linux

package edge

import (
	"errors"
	"net"
)

// Elsewhere a gateway is somebody's own, and restarts behind no balancer.

func noNewConnections(*net.TCPListener) error { return errors.ErrUnsupported }

func notAccepted(*net.TCPListener) (int, error) { return 0, nil }
