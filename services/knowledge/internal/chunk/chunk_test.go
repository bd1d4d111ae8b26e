package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/chunk"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
)

// check holds for every chunk of any document.
func check(t *testing.T, chunks []chunk.Chunk) {
	t.Helper()
	for i, c := range chunks {
		n := utf8.RuneCountInString(c.Content)
		if n == 0 || n > chunk.Most || c.Repeated > chunk.Overlap || c.Repeated > n {
			t.Errorf("chunk %d has %d characters, %d of them repeated", i, n, c.Repeated)
		}
		if c.Repeated > 0 {
			if i == 0 {
				t.Error("the first chunk repeats something")
			} else if head := string([]rune(c.Content)[:c.Repeated]); !strings.HasSuffix(chunks[i-1].Content, head) {
				t.Errorf("chunk %d does not begin with the end of the one before: %q", i, head)
			}
		}
	}
}

func TestParagraphsFillChunks(t *testing.T) {
	t.Parallel()
	var text []string
	for i := range 12 {
		text = append(text, fmt.Sprintf("Paragraph %d. %s", i, strings.Repeat("word ", 50)))
	}
	got := chunk.Split([]parse.Section{{Text: strings.Join(text, "\n\n"), Page: 3, Headings: []string{"A", "B"}}})
	check(t, got)
	if len(got) != 4 || got[0].Page != 3 || len(got[0].Headings) != 2 {
		t.Errorf("%d chunks, %+v", len(got), got[0])
	}
	for _, c := range got {
		if c.Repeated != 0 || !strings.HasPrefix(c.Content, "Paragraph") {
			t.Errorf("cut in a paragraph: %+v", c)
		}
	}
}

func TestALongParagraphIsCutWithOverlap(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"sentences": strings.Repeat("This is a sentence of eight words, roughly. ", 120),
		"no spaces": strings.Repeat("x", 5000),
		"chinese":   strings.Repeat("这是一个关于反应堆的句子。", 300),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := chunk.Split([]parse.Section{{Text: text}})
			check(t, got)
			whole := got[0].Content
			for _, c := range got[1:] {
				if c.Repeated == 0 {
					t.Error("a piece repeats nothing")
				}
				whole += string([]rune(c.Content)[c.Repeated:])
			}
			squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
			if squeeze(whole) != squeeze(text) {
				t.Error("something is lost or doubled")
			}
		})
	}
}

func TestTablesRepeatTheirHeader(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("%d | some value", i))
	}
	got := chunk.Split([]parse.Section{{Kind: parse.Table, Header: "number | value", Text: strings.Join(rows, "\n")}})
	check(t, got)
	found := 0
	for _, c := range got {
		lines := strings.Split(c.Content, "\n")
		if lines[0] != "number | value" {
			t.Errorf("begins with %q", lines[0])
		}
		found += len(lines) - 1
	}
	if found != 200 {
		t.Errorf("%d rows", found)
	}
	check(t, chunk.Split([]parse.Section{{Kind: parse.Table, Header: strings.Repeat("h | ", 900), Text: strings.Repeat("v | ", 900) + "\nshort"}}))
}

func TestCodeIsCutAtDeclarations(t *testing.T) {
	t.Parallel()
	var code []string
	for i := range 20 {
		code = append(code, fmt.Sprintf("func f%d() {\n\tone()\n\n\ttwo()\n%s}", i, strings.Repeat("\tthree()\n", 15)))
	}
	got := chunk.Split([]parse.Section{{Text: "Text before.\n\n```go\n" + strings.Join(code, "\n\n") + "\n```\n\nafter"}})
	check(t, got)
	for _, c := range got[2:] {
		if !strings.HasPrefix(c.Content, "func f") && c.Content != "after" {
			t.Errorf("begins with %q", c.Content[:20])
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext", "", false)
	f.Add("a | b\nc", "x | y", true)
	f.Fuzz(func(t *testing.T, text, header string, table bool) {
		if !utf8.ValidString(text) || !utf8.ValidString(header) {
			t.Skip()
		}
		kind := parse.Prose
		if table {
			kind = parse.Table
		}
		for _, c := range chunk.Split([]parse.Section{{Kind: kind, Text: text, Header: header}}) {
			if n := utf8.RuneCountInString(c.Content); n > chunk.Most {
				t.Errorf("%d characters", n)
			}
		}
	})
}
