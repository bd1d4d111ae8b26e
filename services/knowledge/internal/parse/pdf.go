package parse

import (
	"io"
	"math"
	"sort"
	"strings"

	"github.com/ledongthuc/pdf"
)

// maxPages is how many pages of a PDF are read.
const maxPages = 10_000

// readPDF reads the text of a PDF, page by page. The library panics on files that are broken; the caller recovers.
func readPDF(r io.ReaderAt, size int64) ([]Section, error) {
	doc, err := pdf.NewReader(r, size)
	if err != nil {
		return nil, failure("the PDF cannot be read: %v", err)
	}
	n := doc.NumPage()
	if n > maxPages {
		return nil, failure("the PDF has %d pages, at most %d are read", n, maxPages)
	}
	var s sections
	for i := 1; i <= n; i++ {
		page := doc.Page(i)
		if page.V.IsNull() {
			continue
		}
		if err := s.add(Section{Text: lines(page.Content().Text), Page: i}); err != nil {
			return nil, err
		}
	}
	return s.list, nil
}

// lines puts the glyphs of a page into lines: those that are at one height, from left to right, with a space where there is a gap. A
// larger distance between lines begins a paragraph.
func lines(glyphs []pdf.Text) string {
	var rows []*line
	var last *line
	for _, g := range glyphs {
		if g.S == "" || math.IsNaN(g.X) || math.IsNaN(g.Y) {
			continue
		}
		height := math.Max(math.Abs(g.FontSize), 1)
		// Glyphs come in the order in which they are drawn, most often line by line.
		if last == nil || math.Abs(last.y-g.Y) > height/2 {
			last = &line{y: g.Y, height: height}
			rows = append(rows, last)
		}
		last.glyphs = append(last.glyphs, g)
		last.height = math.Max(last.height, height)
	}
	rows = join(rows)
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
			if gap := rows[i-1].y - row.y; gap > 1.8*row.height || gap < 0 {
				b.WriteByte('\n')
			}
		}
		b.WriteString(row.text())
	}
	return b.String()
}

// line is text at one height.
type line struct {
	y, height float64
	glyphs    []pdf.Text
}

// join puts together the pieces of a line that were not drawn one after the other, and sorts lines from top to bottom.
func join(rows []*line) []*line {
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].y > rows[j].y })
	var out []*line
	for _, row := range rows {
		if n := len(out); n > 0 && math.Abs(out[n-1].y-row.y) <= math.Min(out[n-1].height, row.height)/3 {
			out[n-1].glyphs = append(out[n-1].glyphs, row.glyphs...)
			continue
		}
		out = append(out, row)
	}
	return out
}

func (l *line) text() string {
	sort.SliceStable(l.glyphs, func(i, j int) bool { return l.glyphs[i].X < l.glyphs[j].X })
	var b strings.Builder
	end := math.Inf(-1)
	for _, g := range l.glyphs {
		if b.Len() > 0 && g.X-end > 0.15*math.Max(math.Abs(g.FontSize), 1) && !strings.HasSuffix(b.String()[max(b.Len()-1, 0):], " ") {
			b.WriteByte(' ')
		}
		b.WriteString(g.S)
		end = g.X + g.W
	}
	return strings.TrimRight(b.String(), " ")
}
