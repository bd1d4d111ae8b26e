package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	heading   = regexp.MustCompile(`^#{1,6}[ \t]+(.*?)[ \t]*#*$`)
	fence     = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	inline    = regexp.MustCompile("`[^`]*`")
	link      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	named     = regexp.MustCompile(`<[^>]+ (?:id|name)="([^"]+)"`)
	mdTarget  = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	srcTarget = regexp.MustCompile(`(?:src|srcset|href)="([^"]+)"`)
)

// sections returns the ids of a Markdown page's sections, as GitHub makes them of the headings.
func sections(text string) map[string]bool {
	ids := map[string]bool{}
	prose(text, func(_ int, line string) {
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			ids[m[1]] = true
		}
		m := heading.FindStringSubmatch(line)
		if m == nil {
			return
		}
		id := slug(m[1])
		for n := 1; ids[id]; n++ {
			id = slug(m[1]) + "-" + strconv.Itoa(n)
		}
		ids[id] = true
	})
	return ids
}

// slug is the id of a heading.
func slug(title string) string {
	title = strings.ToLower(link.ReplaceAllString(title, "$1"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return -1
	}, title)
}

// links calls found with each target that a Markdown page links to, and the number of its line.
func links(text string, found func(line int, target string)) {
	prose(text, func(n int, line string) {
		line = inline.ReplaceAllString(line, "")
		for _, pattern := range []*regexp.Regexp{mdTarget, srcTarget} {
			for _, m := range pattern.FindAllStringSubmatch(line, -1) {
				found(n, m[1])
			}
		}
	})
}

// prose calls each with the lines of a Markdown page that are not in a block of code, counted from 1.
func prose(text string, each func(n int, line string)) {
	open := ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		mark := fence.FindStringSubmatch(line)
		switch {
		case open == "" && mark != nil:
			open = mark[1]
		case open != "" && mark != nil && strings.HasPrefix(mark[1], open):
			open = ""
		case open == "":
			each(n, line)
		}
	}
}
