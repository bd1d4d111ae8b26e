package parse_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
)

// bomb is a PDF of some hundred KiB whose page has n MiB of instructions.
func bomb(t *testing.T, mib int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	line := []byte(strings.Repeat("BT /F1 12 Tf 50 700 Td (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n", 1<<14))
	for range mib {
		if _, err := w.Write(line[:1<<20]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	plain := pdfOf("x")
	at := bytes.Index(plain, []byte("<</Length "))
	end := at + bytes.Index(plain[at:], []byte("endstream"))
	stream := fmt.Sprintf("<</Length %d/Filter/FlateDecode>>stream\n%s\n", packed.Len(), packed.Bytes())
	out := append(append(append([]byte{}, plain[:at]...), stream...), plain[end:]...)
	xref := bytes.LastIndex(out, []byte("xref\n0"))
	return append(out[:bytes.LastIndex(out, []byte("startxref"))], []byte(fmt.Sprintf("startxref\n%d\n%%%%EOF", xref))...)
}

// wanted is what a document that takes too much fails with. The race detector's programs end as they like when they get no memory; `make
// memory` runs these tests without it.
func wanted(prefix string) string {
	if raced := testkit.MemoryLimit(1) > 1; raced && prefix == "TOO_LARGE" {
		return ""
	}
	return prefix
}

// What takes too much ends with its own process, and this one goes on.
func TestAReaderIsHeldToItsBounds(t *testing.T) {
	t.Parallel()
	content := bomb(t, 300)
	for name, tt := range map[string]struct {
		bounds parse.Bounds
		want   string
	}{
		"memory": {parse.Bounds{Time: time.Minute, Memory: 128 << 20}, "TOO_LARGE"},
		"time":   {parse.Bounds{Time: 300 * time.Millisecond, Memory: 8 << 30}, "TOO_SLOW"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, parse.Options{Bounds: tt.bounds}, "a.pdf", content)
			if message, failed := parse.IsFailure(err); !failed || !strings.HasPrefix(message, wanted(tt.want)) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
