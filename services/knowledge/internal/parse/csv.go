package parse

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// readCSV reads a table whose first row is its header. Commas, semicolons and tabs may part its cells.
func readCSV(raw []byte) ([]Section, error) {
	text := decode(raw)
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator(text), true, -1, true
	var s sections
	t := table{sections: &s}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			err := t.end()
			return s.list, err
		}
		if err != nil {
			return nil, failure("the CSV cannot be read: %v", err)
		}
		if err := t.row(row); err != nil {
			return nil, err
		}
	}
}

// separator is the one of which the first line has most.
func separator(text string) rune {
	line, _, _ := strings.Cut(text, "\n")
	best, most := ',', strings.Count(line, ",")
	for _, c := range ";\t" {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// tablePiece is how many bytes of rows are one section: chunks cut them further.
const tablePiece = 64 << 10

// table makes sections of rows.
type table struct {
	*sections
	page   int
	header string
	begun  bool
	rows   strings.Builder
}

func (t *table) row(row []string) error {
	for len(row) > 0 && strings.TrimSpace(row[len(row)-1]) == "" {
		row = row[:len(row)-1]
	}
	if len(row) == 0 {
		return nil
	}
	if err := checkColumns(len(row)); err != nil {
		return err
	}
	line := cells(row)
	if !t.begun {
		t.begun, t.header = true, line
		return nil
	}
	t.rows.WriteString(line)
	t.rows.WriteByte('\n')
	if t.rows.Len() >= tablePiece {
		return t.flush()
	}
	return nil
}

func (t *table) flush() error {
	err := t.add(Section{Kind: Table, Header: t.header, Text: t.rows.String(), Page: t.page})
	t.rows.Reset()
	return err
}

// end ends the table; one of a header alone is text.
func (t *table) end() error {
	var err error
	if t.rows.Len() > 0 {
		err = t.flush()
	} else if t.begun && t.header != "" && !t.hasRows() {
		err = t.add(Section{Text: t.header, Page: t.page})
	}
	t.begun, t.header = false, ""
	return err
}

// hasRows reports whether rows of this table were added before.
func (t *table) hasRows() bool {
	last := len(t.list) - 1
	return last >= 0 && t.list[last].Kind == Table && t.list[last].Header == clean(t.header)
}
