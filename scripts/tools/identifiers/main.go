// Command identifiers checks that names in Go code are the field's words.
//
//	git ls-files -z | identifiers <root>
//
// It reads the names of the files to check from standard input, each ended by a zero byte, and looks at Go files that are not
// generated. It prints each file and each identifier that has a word of the list in replaced.go, one line each, and exits with
// 1 if there are any.
package main

import "github.com/hecaton-dev/hecaton/scripts/tools/internal/filecheck"

func main() { filecheck.Main("identifiers", check) }
