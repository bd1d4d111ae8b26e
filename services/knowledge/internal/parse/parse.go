package parse

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// format is how a type of file is read.
type format struct {
	mime string
	// whole reads formats that are text: their cost is in proportion to their size.
	whole func([]byte) ([]Section, error)
	// apart reads formats that are read in a process of their own.
	apart func(io.ReaderAt, int64) ([]Section, error)
}

// formats by the end of a file's name. Those without a reader are for Tika.
var formats = map[string]format{
	".md":       {mime: "text/markdown", whole: readMarkdown},
	".markdown": {mime: "text/markdown", whole: readMarkdown},
	".txt":      {mime: "text/plain", whole: readText},
	".csv":      {mime: "text/csv", whole: readCSV},
	".html":     {mime: "text/html", whole: readHTML},
	".htm":      {mime: "text/html", whole: readHTML},
	".docx":     {mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", apart: readDOCX},
	".xlsx":     {mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", apart: readXLSX},
	".pptx":     {mime: "application/vnd.openxmlformats-officedocument.presentationml.presentation", apart: readPPTX},
	".pdf":      {mime: "application/pdf", apart: readPDF},
	".doc":      {mime: "application/msword"},
	".xls":      {mime: "application/vnd.ms-excel"},
	".ppt":      {mime: "application/vnd.ms-powerpoint"},
}

// Type returns the MIME type of a file by its name; false where such files are not taken.
func Type(fileName string) (string, bool) {
	f, ok := formats[extension(fileName)]
	return f.mime, ok
}

// Extensions are the ends of names that are taken, in order.
func Extensions() []string {
	var list []string
	for e := range formats {
		list = append(list, e)
	}
	slices.Sort(list)
	return list
}

func extension(fileName string) string { return strings.ToLower(filepath.Ext(fileName)) }

// read reads a file in this process. What a library panics with is the document's failure.
func read(file *os.File, fileName string) (found []Section, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, failure("the document is broken: %v", p)
		}
	}()
	f := formats[extension(fileName)]
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if f.apart != nil {
		return f.apart(file, info.Size())
	}
	raw, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return f.whole(raw)
}
