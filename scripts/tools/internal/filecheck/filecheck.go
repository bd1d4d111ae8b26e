// Package filecheck is the front end of the commands that check the repository's files.
package filecheck

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Main is the main function of the command name, used as "git ls-files -z | name <root>". It reads the names of the files from
// standard input, each ended by a zero byte, prints the problems that check finds, one line each, and exits with 1 if there
// are any, and with 2 if it cannot tell.
func Main(name string, check func(root string, files []string) (problems []string, err error)) {
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "usage: git ls-files -z | %s <root>\n", name)
		os.Exit(2)
	}
	list, err := io.ReadAll(os.Stdin)
	var found []string
	if err == nil {
		found, err = check(os.Args[1], names(list))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
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
