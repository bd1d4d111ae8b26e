package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports that no kernel hands out by itself (Linux from 32768, others from 49152): the port of a stopped server stays free
// until the server comes back, whatever the clients that keep dialling it are given as their own ports.
const (
	firstQuietPort = 20000
	lastQuietPort  = 32000
)

// quietPort returns a port that nobody listens on just now.
func quietPort() int {
	for {
		port := firstQuietPort + rand.IntN(lastQuietPort-firstQuietPort)
		ln, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err == nil {
			_ = ln.Close() // a listener without connections closes at once
			return port
		}
	}
}
