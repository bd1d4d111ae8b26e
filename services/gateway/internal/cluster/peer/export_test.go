package peer

import (
	"bufio"
	"net"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Header begins an answer on a link.
var Header = header

// Greet dials and does the handshake with what a pod said of where it is.
func Greet(addr string, gateway ids.GatewayID, said string) (net.Conn, error) {
	at, err := parsePlace([]byte(said))
	if err != nil {
		return nil, err
	}
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return nc, greet(nc, gateway, at.key)
}

// Admit is the listening side's handshake, for fuzzing.
func Admit(nc net.Conn, gateway ids.GatewayID, key string) error {
	return admit(nc, bufio.NewReaderSize(nc, maxPreface), gateway, key)
}
