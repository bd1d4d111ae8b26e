package grpcapi

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Limits of requests, in characters unless they say otherwise.
const (
	maxName        = 200
	maxDescription = 2000
	maxFileName    = 255 // bytes
	maxQuery       = 4000
	maxBases       = 100
	maxTopK        = 50
	defaultTopK    = 5
	maxPage        = 200
	defaultPage    = 50
	maxRead        = 100_000
	defaultRead    = 5000
)

func invalid(format string, args ...any) error {
	return errs.New(errs.InvalidArgument, format, args...)
}

func text(field, value string, least, most int) error {
	switch n := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return invalid("%s is not text", field)
	case n < least || strings.TrimSpace(value) == "" && least > 0:
		return invalid("%s is required, a string that is not empty", field)
	case n > most:
		return invalid("%s has %d characters, at most %d are allowed", field, n, most)
	}
	return nil
}

// checkFileName takes a name without a path.
func checkFileName(name string) error {
	switch {
	case name == "":
		return invalid("the file has no name: filename must be in its Content-Disposition")
	case len(name) > maxFileName:
		return invalid("the name of the file has %d bytes, at most %d are allowed", len(name), maxFileName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsAny(name, `/\`) || name == "." || name == "..":
		return invalid("the name of the file must be text without / and \\")
	}
	return nil
}

func checkIDs(field string, list []string) error {
	if len(list) > maxBases {
		return invalid("%s has %d ids, at most %d are allowed", field, len(list), maxBases)
	}
	for _, id := range list {
		if err := ids.Check(field, id); err != nil {
			return invalid("%v", err)
		}
	}
	return nil
}

// page returns the limit and the cursor of a list.
func page(limit int32, cursor string) (n int, from int64, err error) {
	switch {
	case limit < 0 || limit > maxPage:
		return 0, 0, invalid("limit must be from 1 to %d", maxPage)
	case limit == 0:
		limit = defaultPage
	}
	if cursor != "" {
		if from, err = strconv.ParseInt(cursor, 10, 64); err != nil || from < 0 {
			return 0, 0, invalid("cursor must be the next_cursor of the page before")
		}
	}
	return int(limit), from, nil
}

// next writes a cursor; 0 is none.
func next(cursor int64) string {
	if cursor == 0 {
		return ""
	}
	return strconv.FormatInt(cursor, 10)
}

// first returns the first error of several checks.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
