// Command citations checks that what the repository cites is in the repository.
//
//	git ls-files -z | citations <root>
//
// It reads the names of the files to check from standard input, each ended by a zero byte. It prints what is wrong, one
// line each, and exits with 1 where anything is:
//
//   - Every page that a file of any kind cites, as docs/page.md or docs/page.md#section, exists, and has that section.
//   - Every relative link of a Markdown file leads to a file or folder, and to a section of it where it names one.
//   - Nothing cites papers that are not in the repository, or a section by its title.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: git ls-files -z | citations <root>")
		os.Exit(2)
	}
	list, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "citations:", err)
		os.Exit(2)
	}
	found, err := check(os.Args[1], names(list))
	if err != nil {
		fmt.Fprintln(os.Stderr, "citations:", err)
		os.Exit(2)
	}
	for _, problem := range found {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// names splits a list of names that each end with a zero byte.
func names(list []byte) (files []string) {
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		files = append(files, string(name))
	}
	return files
}
