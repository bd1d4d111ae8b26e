// Command reliability puts what a run of the fault matrix saw into docs/reliability.md.
//
//	reliability report.json docs/reliability.md
//
// The report is that of "hecaton bench --faults --out". Its tables replace what is between two comments in the document:
// "<!-- begin: seen -->" and "<!-- end: seen -->".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: reliability report.json document.md")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "reliability:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if !r.Passed {
		return fmt.Errorf("%s: the run did not pass, so it proves nothing", from)
	}
	doc, err := os.ReadFile(to)
	if err != nil {
		return err
	}
	text, err := splice(string(doc), r.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return os.WriteFile(to, []byte(text), 0o644)
}

const begin, end = "<!-- begin: seen -->\n", "<!-- end: seen -->\n"

// splice replaces what is between the comments.
func splice(doc, text string) (string, error) {
	before, rest, ok := strings.Cut(doc, begin)
	_, after, both := strings.Cut(rest, end)
	if !ok || !both {
		return "", fmt.Errorf("it has no %q with a %q after it", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
