package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one event that had data.
type Event struct {
	// ID is that of the last event that had one, this one included.
	ID string
	// Name is the event's kind; "" where the server gave none.
	Name string
	// Data is what it carries: its lines, divided by newlines.
	Data []byte
}

// TooLargeError says that an event is larger than a reader takes.
type TooLargeError struct{ Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("an event has more than %d bytes", e.Limit)
}

// Reader reads the events of one stream. It is for one goroutine.
type Reader struct {
	in    *bufio.Reader
	limit int
	id    string
	retry time.Duration
	begun bool
	cr    bool // the last line ended with \r: a \n that follows belongs to it
}

// NewReader returns a reader of events with at most limit bytes.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 16<<10), limit: limit}
}

// Retry is how long the server asks clients to wait before they reconnect; 0 if it has not said so.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event. The error is io.EOF at the end of the stream, a *TooLargeError, or the error of the stream;
// an event that is incomplete at the end of the stream is dropped.
func (r *Reader) Next() (Event, error) {
	var e Event
	var data []byte
	size, hasData := 0, false
	for {
		line, err := r.line(r.limit - size)
		if err != nil {
			return Event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if hasData {
				e.ID, e.Data = r.id, data
				return e, nil
			}
			e, size = Event{}, 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) { // a comment's is empty
		case "data":
			if hasData {
				data = append(data, '\n')
			}
			data, hasData = append(data, value...), true
		case "event":
			e.Name = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				r.id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil && value[0] != '+' {
				r.retry = time.Duration(ms) * time.Millisecond
			}
		case "":
			size -= len(line) // a stream of comments may go on for ever
		}
	}
}

// line returns the next line without its end, which is \n, \r or \r\n. A line that is incomplete at the end of the stream
// is dropped.
func (r *Reader) line(limit int) ([]byte, error) {
	var line []byte
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil, err
		}
		after := r.cr
		r.cr = c == '\r'
		switch {
		case c == '\n' && after:
			continue
		case c == '\n' || c == '\r':
			if !r.begun {
				r.begun = true
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			return line, nil
		case len(line) >= limit:
			return nil, &TooLargeError{r.limit}
		}
		line = append(line, c)
	}
}
