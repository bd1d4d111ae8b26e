// Command write writes the configurations of servers that are made of package access into a directory.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write DIRECTORY")
		os.Exit(2)
	}
	for name, text := range access.Files() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
