package cli

import (
	"os"
	"strconv"
	"strings"
	"unicode"
)

// printable is a name that somebody else chose, made safe for a terminal and for a table: quoted where it holds more than
// letters that show, and a dash where it is empty.
func printable(name string) string {
	if name == "" {
		return "-"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(name)
	}
	return name
}

// hostname is this machine's name; empty where it has none, which a gateway fills in.
func hostname() string {
	name, _ := os.Hostname()
	return name
}
