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
	"github.com/hecaton-dev/hecaton/pkg/config"
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

// greet is the dialling side's part: it names the pod that is meant and shows the first of the services' tokens.
func greet(nc net.Conn, gateway ids.GatewayID, token config.Secret) error {
	if err := nc.SetDeadline(time.Now().Add(handshake)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(nc, "%s %s %s\n", protocol, bus.Token(string(gateway)), bus.Token(token.First().Reveal())); err != nil {
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

// admit is the listening side's part. Any of the tokens will do.
func admit(nc net.Conn, r *bufio.Reader, gateway ids.GatewayID, token config.Secret) error {
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
	case !accepts(token, fields[2]):
		return fmt.Errorf("wrong service token")
	}
	if _, err := nc.Write([]byte(welcome)); err != nil {
		return err
	}
	return nc.SetDeadline(time.Time{})
}

// accepts compares what was shown with every token there is; without one it has to be the empty one.
func accepts(token config.Secret, shown string) bool {
	keys := token.Keys()
	if len(keys) == 0 {
		keys = []config.Secret{""}
	}
	match := 0
	for _, key := range keys {
		match |= subtle.ConstantTimeCompare([]byte(shown), []byte(bus.Token(key.Reveal())))
	}
	return match == 1
}
