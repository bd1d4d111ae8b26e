package peer

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

const (
	protocol  = "hecaton-peer/2"
	welcome   = "welcome"
	handshake = 5 * time.Second
	// headerSize is a call's number, 8 bytes, and the answer's length, 4.
	headerSize = 12
	// maxPreface bounds what a connection that has not shown the key can make a pod read, maxUnproven how many of them there are at a time.
	maxPreface  = 4 << 10
	maxUnproven = 256
)

func header(number uint64, size int) []byte {
	b := make([]byte, headerSize)
	binary.BigEndian.PutUint64(b, number)
	binary.BigEndian.PutUint32(b[8:], uint32(size))
	return b
}

// place is a pod's address, and the key by which it and the pod that asked for it over the bus recognise each other there.
type place struct{ addr, key string }

func (p place) append(b []byte) []byte { return append(append(append(b, p.addr...), ' '), p.key...) }

func parsePlace(raw []byte) (p place, err error) {
	var ok bool
	if p.addr, p.key, ok = strings.Cut(string(raw), " "); !ok || p.key == "" {
		return p, fmt.Errorf("a pod says %q about its address: want an address and a key", raw)
	}
	return p, nil
}

// The two sides of a link.
const (
	dials   = "dials"
	listens = "listens"
)

// proof shows that a side knows the key, without telling the key: a program that has taken over the address learns nothing, and
// what was overheard opens no other link.
func proof(key, side string, gateway ids.GatewayID, dialled, listened string) string {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s %s %s %s %s", protocol, side, bus.Token(string(gateway)), dialled, listened)
	return hex.EncodeToString(mac.Sum(nil))
}

var errWrongKey = errors.New("the other side does not know the key")

// greet is the dialling side's part: it names the pod that is meant, and sends nothing more before that pod has shown the key.
func greet(nc net.Conn, gateway ids.GatewayID, key string) error {
	if err := nc.SetDeadline(time.Now().Add(handshake)); err != nil {
		return err
	}
	mine, r := rand.Text(), bufio.NewReader(io.LimitReader(nc, maxPreface))
	if _, err := fmt.Fprintf(nc, "%s %s %s\n", protocol, bus.Token(string(gateway)), mine); err != nil {
		return err
	}
	answer, err := line(r)
	if err != nil {
		return fmt.Errorf("the peer refused the link: %w", err)
	}
	theirs, shown, _ := strings.Cut(answer, " ")
	if !hmac.Equal([]byte(shown), []byte(proof(key, listens, gateway, mine, theirs))) {
		return errWrongKey
	}
	if _, err := fmt.Fprintln(nc, proof(key, dials, gateway, mine, theirs)); err != nil {
		return err
	}
	if answer, err = line(r); err != nil || answer != welcome {
		return errors.Join(fmt.Errorf("the peer refused the link: %q", answer), err)
	}
	return nc.SetDeadline(time.Time{})
}

// admit is the listening side's part.
func admit(nc net.Conn, r *bufio.Reader, gateway ids.GatewayID, key string) error {
	if err := nc.SetDeadline(time.Now().Add(handshake)); err != nil {
		return err
	}
	preface, err := line(r)
	if err != nil {
		return fmt.Errorf("preface: %w", err)
	}
	fields := strings.Split(preface, " ")
	switch {
	case len(fields) != 3 || fields[0] != protocol:
		return errors.New("preface of another protocol")
	case fields[1] != bus.Token(string(gateway)):
		return errors.New("the peer wants another pod")
	}
	mine, theirs := rand.Text(), fields[2]
	if _, err := fmt.Fprintf(nc, "%s %s\n", mine, proof(key, listens, gateway, theirs, mine)); err != nil {
		return err
	}
	shown, err := line(r)
	if err != nil {
		return fmt.Errorf("preface: %w", err)
	}
	if !hmac.Equal([]byte(shown), []byte(proof(key, dials, gateway, theirs, mine))) {
		return errWrongKey
	}
	if _, err := fmt.Fprintln(nc, welcome); err != nil {
		return err
	}
	return nc.SetDeadline(time.Time{})
}

// line reads one, of what fits the reader's buffer.
func line(r *bufio.Reader) (string, error) {
	raw, err := r.ReadSlice('\n')
	return strings.TrimSuffix(string(raw), "\n"), err
}
