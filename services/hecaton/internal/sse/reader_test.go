package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/sse"
)

func read(in io.Reader, limit int) (events []sse.Event, err error) {
	r := sse.NewReader(in, limit)
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"one":                {"data: a\n\n", "||a"},
		"no space":           {"data:a\n\n", "||a"},
		"two spaces":         {"data:  a\n\n", "|| a"},
		"lines":              {"data: a\ndata\ndata: b\n\n", "||a\n\nb"},
		"id stays":           {"id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", "7||a;7||b;||c"},
		"id with NUL":        {"id: 7\ndata: a\n\nid: \x00\ndata: b\n\n", "7||a;7||b"},
		"name":               {"event: x\ndata: a\n\ndata: b\n\n", "|x|a;||b"},
		"no data":            {"event: x\nid: 3\n\ndata: b\n\n", "3||b"},
		"empty data":         {"data\n\n", "||"},
		"comments":           {": hi\n\n:\ndata: a\n: x\n\n", "||a"},
		"unknown fields":     {"foo: bar\nDATA: x\ndata: a\n\n", "||a"},
		"cr":                 {"data: a\rdata: b\r\r", "||a\nb"},
		"crlf":               {"data: a\r\ndata: b\r\n\r\n", "||a\nb"},
		"byte order mark":    {"\ufeffdata: a\n\n\ufeffdata: b\n\n", "||a"},
		"broken off":         {"data: a\n\ndata: b\n", "||a"},
		"broken line":        {"data: a\n\ndata: b", "||a"},
		"empty lines":        {"\n\n\ndata: a\n\n\n\n", "||a"},
		"nothing":            {"", ""},
		"colon in the value": {"data: a: b:c\n\n", "||a: b:c"},
	} {
		for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
			events, err := read(in, 100)
			var got []string
			for _, e := range events {
				got = append(got, e.ID+"|"+e.Name+"|"+string(e.Data))
			}
			if !errors.Is(err, io.EOF) || strings.Join(got, ";") != tt.want {
				t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
			}
		}
	}
}

func TestReaderEnds(t *testing.T) {
	t.Parallel()
	var large *sse.TooLargeError
	for name, in := range map[string]string{
		"a long line": "data: " + strings.Repeat("x", 100) + "\n\n",
		"many lines":  strings.Repeat("data: x\n", 100) + "\n",
		"no end":      strings.Repeat("x", 1000),
	} {
		if events, err := read(strings.NewReader(in), 100); !errors.As(err, &large) || len(events) > 0 {
			t.Errorf("%s: %v, %v", name, events, err)
		}
	}
	if events, err := read(strings.NewReader(strings.Repeat(": a comment\n", 1000)+"data: a\n\n"), 100); len(events) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("comments: %v, %v", events, err)
	}
	if _, err := read(iotest.ErrReader(io.ErrClosedPipe), 100); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	r := sse.NewReader(strings.NewReader("retry: 2000\n\nretry: x\nretry: -1\nretry: +1\nretry\ndata: a\n\n"), 100)
	if _, err := r.Next(); err != nil || r.Retry() != 2*time.Second {
		t.Errorf("%v, %v", r.Retry(), err)
	}
}

// Whatever comes, in whatever pieces, the events are the same, within the bound, and writing them yields them again.
func FuzzReader(f *testing.F) {
	f.Add([]byte("retry: 1\n\nid: 1\ndata: {}\n\n: x\r\n\r\nevent: y\rdata\r\r"))
	f.Add([]byte("\xef\xbb\xbfdata: a\r\ndata: b\n\r"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64
		events, err := read(bytes.NewReader(in), limit)
		pieces, piecesErr := read(iotest.OneByteReader(bytes.NewReader(in)), limit)
		if len(events) != len(pieces) || errors.Is(err, io.EOF) != errors.Is(piecesErr, io.EOF) {
			t.Fatalf("%v %v, in pieces %v %v", events, err, pieces, piecesErr)
		}
		var out bytes.Buffer
		for i, e := range events {
			if len(e.Data) > limit || !bytes.Equal(e.Data, pieces[i].Data) || e.ID != pieces[i].ID || e.Name != pieces[i].Name {
				t.Errorf("%+v, in pieces %+v", e, pieces[i])
			}
			out.WriteString("id: " + e.ID + "\nevent: " + e.Name + "\ndata: " + strings.ReplaceAll(string(e.Data), "\n", "\ndata: ") + "\n\n")
		}
		again, _ := read(&out, 100*limit)
		if len(again) != len(events) {
			t.Fatalf("%d events became %d", len(events), len(again))
		}
		for i := range again {
			if !bytes.Equal(again[i].Data, events[i].Data) || again[i].ID != events[i].ID || again[i].Name != events[i].Name {
				t.Errorf("%+v became %+v", events[i], again[i])
			}
		}
	})
}
