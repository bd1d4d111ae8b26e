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

import "github.com/hecaton-dev/hecaton/scripts/tools/internal/filecheck"

func main() { filecheck.Main("citations", check) }
