package peer

import (
	"bufio"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/bus"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

const (
	protocol  = "hecaton-peer/1"
	welcome   = "welcome\n"
	handshake = 5 * time.Second
	// headerSize is a call's number, 8 bytes, and the answer's length, 4.
	headerSize = 12
	// maxPreface bounds what a stranger can make a pod read.
	maxPreface = 4 << 10
)

func header(number uint64, size int) []byte {
	b := make([]byte, headerSize)
	binary.BigEndian.PutUint64(b, number)
	binary.BigEndian.PutUint32(b[8:], uint32(size))
	return b
}

// greet is the dialling side's part: it names the pod that is meant and shows the services' token.
func greet(nc net.Conn, gateway ids.GatewayID, token string) error {
	if err := nc.SetDeadline(time.Now().Add(handshake)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(nc, "%s %s %s\n", protocol, bus.Token(string(gateway)), bus.Token(token)); err != nil {
		return err
	}
	answer := make([]byte, len(welcome))
	for n := 0; n < len(answer); {
		m, err := nc.Read(answer[n:])
		if err != nil {
			return fmt.Errorf("not welcome: %w", err)
		}
		n += m
	}
	if string(answer) != welcome {
		return fmt.Errorf("not welcome: %q", answer)
	}
	return nc.SetDeadline(time.Time{})
}

// admit is the listening side's part.
func admit(nc net.Conn, r *bufio.Reader, gateway ids.GatewayID, token string) error {
	if err := nc.SetDeadline(time.Now().Add(handshake)); err != nil {
		return err
	}
	line, err := r.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("preface: %w", err)
	}
	fields := strings.Split(strings.TrimSuffix(string(line), "\n"), " ")
	switch {
	case len(fields) != 3 || fields[0] != protocol:
		return fmt.Errorf("preface of another protocol")
	case fields[1] != bus.Token(string(gateway)):
		return fmt.Errorf("the peer looks for another pod")
	case subtle.ConstantTimeCompare([]byte(fields[2]), []byte(bus.Token(token))) != 1:
		return fmt.Errorf("wrong service token")
	}
	if _, err := nc.Write([]byte(welcome)); err != nil {
		return err
	}
	return nc.SetDeadline(time.Time{})
}
