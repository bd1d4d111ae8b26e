package parse_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// read reads a document that a test has made.
func read(t *testing.T, o parse.Options, name string, content []byte) ([]parse.Section, error) {
	t.Helper()
	r, err := parse.New(o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "document")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return r.Read(t.Context(), f, name)
}

// flat writes sections as one line each.
func flat(list []parse.Section) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s|%d|%s|%s|%s\n", s.Kind, s.Page, strings.Join(s.Headings, ">"), s.Header, strings.ReplaceAll(s.Text, "\n", "/"))
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file    string
		content []byte
		want    string
	}{
		"markdown": {"a.md", []byte("---\ntitle: x\n---\nintro\n\n# A\ntext\n\n## B ##\n```\n# no heading\n```\n\nSetext\n---\nend\n\n| x | y |\n|---|---|\n| 1 | 2 |\n# C\nlast"),
			"|0|||intro\n|0|A||# A/text\n|0|A>B||## B ##/```/# no heading/```\n|0|A>Setext||Setext/---/end\ntable|0|A>Setext|x | y|1 | 2\n|0|C||# C/last\n"},
		"text with pages": {"a.txt", []byte("one\ftwo"), "|1|||one\n|2|||two\n"},
		"UTF-16":          {"a.txt", []byte{0xff, 0xfe, 'h', 0, 'i', 0}, "|0|||hi\n"},
		"GB 18030":        {"a.txt", []byte{0xd6, 0xd0, 0xce, 0xc4}, "|0|||中文\n"},
		"csv":             {"a.csv", []byte("name;age\nana;7\nbob;\"8\n9\"\n"), "table|0||name | age|ana | 7/bob | 8 9\n"},
		"html": {"a.html", []byte("<html><head><title>no</title><style>no</style></head><body><h1>A</h1><p>one <b>two</b></p><script>no()</script>" +
			"<h2>B</h2><table><tr><th>x<th>y<tr><td>1<td>2</table><p>end"), "|0|A||A//one two\n|0|A>B||B\ntable|0|A>B|x | y|1 | 2\n|0|A>B||end\n"},
		"docx": {"a.docx", office(t, map[string]string{
			"word/styles.xml":   `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
			"word/document.xml": `<w:document><w:body><w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Title</w:t></w:r></w:p><w:p><w:r><w:t>one</w:t></w:r></w:p><w:p><w:r><w:lastRenderedPageBreak/><w:t>two</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`,
		}), "|1|Title||Title//one\n|2|Title||two\ntable|2|Title|x|1\n"},
		"pptx": {"a.pptx", office(t, map[string]string{
			"ppt/presentation.xml":            `<p:presentation xmlns:r="r"><p:sldIdLst><p:sldId id="1" r:id="b"/><p:sldId id="2" r:id="a"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels": `<Relationships><Relationship Id="a" Target="slides/slide1.xml"/><Relationship Id="b" Target="slides/slide2.xml"/></Relationships>`,
			"ppt/slides/slide1.xml":           `<p:sld><p:sp><a:p><a:r><a:t>second</a:t></a:r></a:p></p:sp></p:sld>`,
			"ppt/slides/slide2.xml":           `<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>Head</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>first</a:t></a:r></a:p></p:sp></p:sld>`,
		}), "|1|Head||Head//first\n|2|||second\n"},
		"xlsx": {"a.xlsx", workbook(t), "table|0|Prices|item | price|lever | 7\n"},
		"pdf":  {"a.PDF", pdfOf("first page", "The reactor is red."), "|1|||first page\n|2|||The reactor is red.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, parse.Options{}, tt.file, tt.content)
			if err != nil || flat(got) != tt.want {
				t.Errorf("%v\n got %s\nwant %s", err, flat(got), tt.want)
			}
		})
	}
}

// office makes a zip.
func office(t testing.TB, members map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range members {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func workbook(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	for cell, value := range map[string]any{"A1": "item", "B1": "price", "A2": "lever", "B2": 7} {
		if err := f.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetSheetName("Sheet1", "Prices"); err != nil {
		t.Fatal(err)
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pdfOf makes a PDF with one line on each page.
func pdfOf(pages ...string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(text string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), text)
	}
	b.WriteString("%PDF-1.4\n")
	object("<</Type/Catalog/Pages 2 0 R>>")
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
	}
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for i, page := range pages {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", 5+2*i))
		stream := fmt.Sprintf("BT /F1 12 Tf 50 700 Td (%s) Tj ET", page)
		object(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(stream), stream))
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", len(at)+1, xref)
	return b.Bytes()
}

// Documents that mean harm fail alone, within their bounds, and say why.
func TestHostileDocumentsFail(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("x,", 10_000) + "\n1\n"
	loop := bytes.ReplaceAll(pdfOf("x"), []byte("/Kids[4 0 R ]"), []byte("/Kids[2 0 R ]"))
	for name, tt := range map[string]struct {
		file    string
		content []byte
		want    string
	}{
		"a zip bomb":             {"a.docx", office(t, map[string]string{"word/document.xml": "<w:t>" + strings.Repeat("a", 100<<20)}), "TOO_LARGE"},
		"a zip bomb of a sheet":  {"a.xlsx", office(t, map[string]string{"[Content_Types].xml": "<x>", "xl/workbook.xml": strings.Repeat("a", 300<<20)}), "cannot be read"},
		"nesting":                {"a.docx", office(t, map[string]string{"word/document.xml": strings.Repeat("<w:p>", 100_000)}), "nested"},
		"no zip":                 {"a.pptx", []byte("PK\x03\x04nonsense"), "not an Office document"},
		"another zip":            {"a.docx", office(t, map[string]string{"x": "y"}), "no DOCX"},
		"10,000 columns":         {"a.csv", []byte(wide), "TOO_MANY_COLUMNS"},
		"no PDF":                 {"a.pdf", []byte("hello"), "cannot be read"},
		"a PDF that loops":       {"a.pdf", loop, ""},
		"a cut PDF":              {"a.pdf", pdfOf("x")[:200], ""},
		"an empty document":      {"a.md", nil, "EMPTY_DOCUMENT"},
		"a document of no text":  {"a.html", []byte("<script>x</script>"), "EMPTY_DOCUMENT"},
		"an old format":          {"a.doc", []byte("x"), "NEEDS_TIKA"},
		"a PDF without any text": {"a.pdf", pdfOf(""), "EMPTY_DOCUMENT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got, err := read(t, parse.Options{Bounds: parse.Bounds{Time: 20 * time.Second, Memory: 256 << 20}}, tt.file, tt.content)
			message, failed := parse.IsFailure(err)
			if !failed || !strings.Contains(message, wanted(tt.want)) || time.Since(began) > 40*time.Second {
				t.Errorf("%d sections, %v after %v", len(got), err, time.Since(began))
			}
		})
	}
}
