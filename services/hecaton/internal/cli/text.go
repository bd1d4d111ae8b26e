package cli

import (
	"os"
	"strconv"
	"strings"
	"unicode"
)

// printable makes a name that somebody else chose safe for a terminal and a table: quoted if it has anything but visible
// characters, and a dash if it is empty.
func printable(name string) string {
	if name == "" {
		return "-"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(name)
	}
	return name
}

// hostname is the name of this machine; empty if it has none: then the gateway chooses one.
func hostname() string {
	name, _ := os.Hostname()
	return name
}
