package parse

import (
	"io"

	"github.com/xuri/excelize/v2"
)

// readXLSX reads the sheets of a workbook as tables. The name of a sheet is its heading.
func readXLSX(r io.ReaderAt, size int64) ([]Section, error) {
	book, err := excelize.OpenReader(io.NewSectionReader(r, 0, size), excelize.Options{UnzipSizeLimit: 4 * maxMember, UnzipXMLSizeLimit: 16 << 20, RawCellValue: false})
	if err != nil {
		return nil, failure("the workbook cannot be read: %v", err)
	}
	defer book.Close()
	var s sections
	for _, name := range book.GetSheetList() {
		if err := readSheet(book, name, &s); err != nil {
			return nil, err
		}
	}
	return s.list, nil
}

func readSheet(book *excelize.File, name string, s *sections) error {
	rows, err := book.Rows(name)
	if err != nil {
		return nil //nolint:nilerr // a sheet of charts has no rows
	}
	defer rows.Close()
	s.path = nil
	s.heading(1, name)
	t := table{sections: s}
	for rows.Next() {
		row, err := rows.Columns()
		if err != nil {
			return failure("sheet %s cannot be read: %v", name, err)
		}
		if err := t.row(row); err != nil {
			return err
		}
	}
	if err := rows.Error(); err != nil {
		return failure("sheet %s cannot be read: %v", name, err)
	}
	return t.end()
}
