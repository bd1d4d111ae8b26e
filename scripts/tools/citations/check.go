package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// cited is a page in any kind of file. It has no blanks, so that a comment's line breaks do not part it.
var cited = regexp.MustCompile(`\bdocs/([A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md)(#[A-Za-z0-9_-]+)?`)

// banned are citations of what a reader of the repository cannot look up.
var banned = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{regexp.MustCompile(`(?i)\bseeds? 0[0-9]{2}\b`), "cite the page of docs/protocols that describes it"},
	{regexp.MustCompile(`(?i)\bthe seed'?s\b|\b(in|as) the seed\b`), "name the protocol, and cite its page of docs/protocols"},
	{regexp.MustCompile(`(?i)\bfacts, (section )?[0-9]|\bfact sheet\b`), "cite the page of docs/protocols that describes it"},
	{regexp.MustCompile(`(?i)\bdesign, (section )?[0-9]|\b(of|in) the design\b`), "cite docs/architecture.md#section or an ADR"},
	{regexp.MustCompile(`(?i)\b(of|in) the issue\b|\(issue [0-9]+\b`), "say what the issue said"},
	{regexp.MustCompile(`\.md\)?,? (section [0-9]|\(?"[A-Z])`), "cite the section as docs/page.md#section"},
}

// own is this program, whose patterns and tests have what they ban.
const own = "scripts/tools/citations/"

// checker knows the sections of the pages that it has read.
type checker struct {
	root     string
	pages    map[string]map[string]bool
	problems []string
}

// check returns what is wrong with the citations of files, whose names are relative to root. A file that is not there is
// passed over: it was deleted, and Git does not know yet.
func check(root string, files []string) ([]string, error) {
	c := &checker{root: root, pages: map[string]map[string]bool{}}
	for _, name := range files {
		if strings.HasPrefix(name, own) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue // no text
		}
		if err := c.file(name, string(text)); err != nil {
			return nil, err
		}
	}
	return c.problems, nil
}

func (c *checker) file(name, text string) (err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, m := range cited.FindAllStringSubmatch(line, -1) {
			err = errors.Join(err, c.target(name, n, m[0], "docs/"+m[1], strings.TrimPrefix(m[2], "#")))
		}
	}
	joined, lineAt := join(text)
	for _, b := range banned {
		for _, at := range b.pattern.FindAllStringIndex(joined, -1) {
			c.report(name, lineAt(at[0]), "%q names no page of the repository: %s", joined[at[0]:at[1]], b.advice)
		}
	}
	if path.Ext(name) != ".md" {
		return err
	}
	links(text, func(n int, target string) {
		u, parseErr := url.Parse(target)
		if parseErr != nil {
			c.report(name, n, "the link %s cannot be read", target)
			return
		}
		if u.Scheme != "" || u.Host != "" || cited.MatchString(target) {
			return // elsewhere, or checked above
		}
		to := name
		if u.Path != "" {
			to = path.Join(path.Dir(name), u.Path)
		}
		err = errors.Join(err, c.target(name, n, target, to, u.Fragment))
	})
	return err
}

// marker is what a line of a comment begins with.
var marker = regexp.MustCompile(`^[ \t]*(//|#|\*|--)?[ \t]*`)

// join makes one line of a text, without the markers of comments, so that what is banned is found across the breaks of
// lines. lineAt returns the number of the line from which a byte of it is.
func join(text string) (joined string, lineAt func(offset int) int) {
	var b strings.Builder
	var starts []int
	for line := range strings.Lines(text) {
		starts = append(starts, b.Len())
		line = strings.TrimRight(line, "\r\n")
		b.WriteString(line[len(marker.FindString(line)):])
		b.WriteByte(' ')
	}
	return b.String(), func(offset int) int {
		n, found := slices.BinarySearch(starts, offset)
		if found {
			return n + 1
		}
		return n
	}
}

// target checks that a file of the repository exists, and the section of it where one is named.
func (c *checker) target(name string, line int, said, file, section string) error {
	_, err := os.Stat(filepath.Join(c.root, file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.report(name, line, "%s: there is no %s", said, file)
		return nil
	case err != nil:
		return err
	case section == "" || path.Ext(file) != ".md":
		return nil
	}
	ids := c.pages[file]
	if ids == nil {
		text, err := os.ReadFile(filepath.Join(c.root, file))
		if err != nil {
			return err
		}
		ids = sections(string(text))
		c.pages[file] = ids
	}
	if !ids[section] {
		c.report(name, line, "%s: %s has no section #%s", said, file, section)
	}
	return nil
}

func (c *checker) report(name string, line int, format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: ", name, line)+fmt.Sprintf(format, args...))
}
