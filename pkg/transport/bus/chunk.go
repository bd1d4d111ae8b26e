package bus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// HeaderChunk numbers the messages of a payload that is larger than one message may be:
// "index/count/bytes/stream". The bus keeps the order of one publisher on one subject, so a gap means that something was
// lost; the stream tells publishers on the same subject apart.
const HeaderChunk = "Hecaton-Chunk"

// DefaultMaxTotal bounds a payload that comes in chunks, in bytes.
const DefaultMaxTotal = 32 << 20

// headroom is left of the server's max_payload for headers, which count.
const headroom = 4 << 10

// ChunkError says why a chunked payload cannot be put together.
type ChunkError struct{ Problem string }

func (e *ChunkError) Error() string { return "chunked payload: " + e.Problem }

var errChunkHeader = errors.New("malformed header")

// MaxMessage returns how many bytes of payload fit one message.
func (c *Conn) MaxMessage() int {
	return max(int(c.MaxPayload())-headroom, 1<<10)
}

// PublishAny publishes msg, in numbered chunks where its payload does not fit one message. The header of msg goes with
// each chunk.
func (c *Conn) PublishAny(msg *nats.Msg) error {
	size := c.MaxMessage()
	if len(msg.Data) <= size {
		return c.PublishMsg(msg)
	}
	count := (len(msg.Data) + size - 1) / size
	tail := "/" + strconv.Itoa(count) + "/" + strconv.Itoa(len(msg.Data)) + "/" + nuid.Next()
	for i := range count {
		part := nats.NewMsg(msg.Subject)
		part.Reply = msg.Reply
		for k, v := range msg.Header {
			part.Header[k] = v
		}
		part.Header.Set(HeaderChunk, strconv.Itoa(i)+tail)
		part.Data = msg.Data[i*size : min((i+1)*size, len(msg.Data))]
		if err := c.PublishMsg(part); err != nil {
			return fmt.Errorf("chunk %d of %d: %w", i+1, count, err)
		}
	}
	return nil
}

// Assembly puts one chunked payload together. The zero value is ready; it is not safe for concurrent use.
type Assembly struct {
	data        []byte
	next, count int
	stream      string // of AddAgain
}

// Add takes the next message of a payload. It returns the payload when it is whole, nil while parts are missing, and a
// *[ChunkError] when it can no longer become whole. A message without [HeaderChunk] is whole by itself.
func (a *Assembly) Add(msg *nats.Msg, maxTotal int) ([]byte, error) {
	header := msg.Header.Get(HeaderChunk)
	if header == "" {
		return msg.Data, nil
	}
	index, count, total, _, err := parseChunk(header)
	switch {
	case err != nil:
		return nil, &ChunkError{fmt.Sprintf("header %q: %v", header, err)}
	case total > maxTotal:
		return nil, &ChunkError{fmt.Sprintf("%d bytes, at most %d are allowed", total, maxTotal)}
	case index != a.next || a.count != 0 && count != a.count:
		return nil, &ChunkError{fmt.Sprintf("got chunk %d of %d, expected %d", index, count, a.next)}
	case len(a.data)+len(msg.Data) > total:
		return nil, &ChunkError{"more bytes than announced"}
	}
	if a.data == nil {
		a.data, a.count = make([]byte, 0, total), count
	}
	a.data = append(a.data, msg.Data...)
	if a.next++; a.next < count {
		return nil, nil
	}
	if len(a.data) != total {
		return nil, &ChunkError{fmt.Sprintf("%d bytes, %d were announced", len(a.data), total)}
	}
	return a.data, nil
}

// AddAgain is as [Assembly.Add] for a payload that is published again where parts of it were lost, as on a bus that comes
// back while one side is still away: each beginning starts over, and what continues no beginning is passed over.
func (a *Assembly) AddAgain(msg *nats.Msg, maxTotal int) ([]byte, error) {
	if index, _, _, stream, err := parseChunk(msg.Header.Get(HeaderChunk)); err == nil {
		switch {
		case index == 0:
			*a = Assembly{stream: stream}
		case stream != a.stream || index != a.next:
			*a = Assembly{}
			return nil, nil
		}
	}
	return a.Add(msg, maxTotal)
}

func parseChunk(header string) (index, count, total int, stream string, err error) {
	parts := strings.Split(header, "/")
	if len(parts) != 4 {
		return 0, 0, 0, "", errChunkHeader
	}
	var n [3]int
	for i, p := range parts[:3] {
		if n[i], err = strconv.Atoi(p); err != nil || n[i] < 0 {
			return 0, 0, 0, "", errChunkHeader
		}
	}
	if n[0] >= n[1] {
		return 0, 0, 0, "", errChunkHeader
	}
	return n[0], n[1], n[2], parts[3], nil
}

// maxStreams bounds the payloads that an Assembler puts together at once.
const maxStreams = 64

// Assembler puts together the payloads of several publishers on one subject. The zero value is ready; it is not safe for
// concurrent use.
type Assembler struct {
	open  map[string]*Assembly
	order []string // oldest first
}

// Add is as [Assembly.Add]. A payload that stays unfinished while many others begin is forgotten.
func (a *Assembler) Add(msg *nats.Msg, maxTotal int) ([]byte, error) {
	header := msg.Header.Get(HeaderChunk)
	if header == "" {
		return msg.Data, nil
	}
	_, _, _, stream, err := parseChunk(header)
	if err != nil {
		return nil, &ChunkError{fmt.Sprintf("header %q: %v", header, err)}
	}
	if a.open == nil {
		a.open = make(map[string]*Assembly)
	}
	part := a.open[stream]
	if part == nil {
		if len(a.order) == maxStreams {
			a.forget(a.order[0])
		}
		part = &Assembly{}
		a.open[stream] = part
		a.order = append(a.order, stream)
	}
	data, err := part.Add(msg, maxTotal)
	if data != nil || err != nil {
		a.forget(stream)
	}
	return data, err
}

func (a *Assembler) forget(stream string) {
	delete(a.open, stream)
	a.order = slices.DeleteFunc(a.order, func(s string) bool { return s == stream })
}
