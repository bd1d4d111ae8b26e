// Command identifiers checks that names in Go code are the field's words.
//
//	git ls-files -z | identifiers <root>
//
// It reads the names of the files to check from standard input, each ended by a zero byte, and looks at Go files that are not
// generated. It prints each file and each identifier that has a word of the list in replaced.go, one line each, and exits with
// 1 if there are any.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: git ls-files -z | identifiers <root>")
		os.Exit(2)
	}
	list, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "identifiers:", err)
		os.Exit(2)
	}
	found, err := check(os.Args[1], strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }))
	if err != nil {
		fmt.Fprintln(os.Stderr, "identifiers:", err)
		os.Exit(2)
	}
	for _, problem := range found {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}
