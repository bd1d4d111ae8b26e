package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

func loopbackAddr(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// Ports that no kernel hands out by itself (Linux from 32768, others from 49152): the port of a stopped server stays free
// until the server comes back, whatever the clients that keep dialling it are given as their own ports.
const (
	firstFreePort = 20000
	lastFreePort  = 32000
)

// FreePort returns a loopback port that nobody listens on just now and that stays free while its server is down: a port for
// what must come back where it was. Where nothing restarts, listen on port 0 instead.
func FreePort() int {
	for {
		port := firstFreePort + rand.IntN(lastFreePort-firstFreePort)
		ln, err := net.Listen("tcp", loopbackAddr(port))
		if err == nil {
			_ = ln.Close() // a listener without connections closes at once
			return port
		}
	}
}
