package main

import (
	"regexp"
	"strings"
)

// What differs from run to run, and says nothing to a reader.
var (
	temporary = regexp.MustCompile(`/tmp/(hecaton(?:-demo)?)-[0-9]+`)
	ports     = regexp.MustCompile(`(in this process), 127\.0\.0\.1:[0-9]+`)
)

// width is how many characters of a line are shown.
const width = 108

// terminal draws a command and what it printed, up to the agent's run: the first line that begins "A run of an agent".
func terminal(command, output string) string {
	output, _, _ = strings.Cut(output, "\nTry it:")
	output = ports.ReplaceAllString(temporary.ReplaceAllString(output, "/tmp/$1"), "$1")
	lines := strings.Split(strings.TrimSpace(output), "\n")
	c := newCanvas(width*8+40, len(lines)*19+76, "What "+command+" prints")
	c.text("mono command", 20, 34, "$ "+command)
	for i, line := range lines {
		class := "mono"
		if strings.HasPrefix(strings.TrimSpace(line), "|") {
			class = "mono good"
		}
		if r := []rune(line); len(r) > width {
			line = string(r[:width-1]) + "…"
		}
		c.text(class, 20, 62+i*19, line)
	}
	return c.end()
}
