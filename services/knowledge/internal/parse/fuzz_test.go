package parse_test

import (
	"bytes"
	"testing"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
)

// Whatever a file holds, reading it ends with sections of clean text or with the document's own failure.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"a.md", "a.txt", "a.csv", "a.html", "a.docx", "a.pptx", "a.xlsx", "a.pdf"} {
		f.Add(name, []byte("# A\n\n| x | y |\n|---|---|\n| 1 | 2 |\n<table><tr><td>"))
	}
	f.Add("a.pdf", pdfOf("one", "two"))
	f.Add("a.docx", office(f, map[string]string{"word/document.xml": "<w:p><w:t>x</w:t></w:p>"}))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if _, ok := parse.Type(name); !ok || len(content) > 1<<20 {
			t.Skip()
		}
		found, err := parse.InProcess(t, name, content)
		if err != nil {
			if _, own := parse.IsFailure(err); !own {
				t.Fatal(err)
			}
			return
		}
		for _, s := range found {
			if s.Text == "" || bytes.ContainsAny([]byte(s.Text+s.Header), "\x00\r") {
				t.Errorf("%+v", s)
			}
		}
	})
}
