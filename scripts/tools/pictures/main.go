// Command pictures draws the pictures of the documents, as SVG files that are legible in light and dark mode.
//
//	pictures cluster > docs/pictures/cluster.svg
//	pictures bench docs/performance.md > docs/pictures/bench.svg
//	pictures terminal "make run" output.txt > docs/pictures/run.svg
//
// "make pictures" makes all of them. The bench chart is made of the table in docs/performance.md, the terminal of what
// the command has printed, so neither is drawn by hand.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	picture, err := draw(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(picture)
}

func draw(args []string) (string, error) {
	switch {
	case len(args) == 1 && args[0] == "cluster":
		return cluster(), nil
	case len(args) == 2 && args[0] == "bench":
		page, err := os.ReadFile(args[1])
		if err != nil {
			return "", err
		}
		return bench(string(page))
	case len(args) == 3 && args[0] == "terminal":
		output, err := os.ReadFile(args[2])
		if err != nil {
			return "", err
		}
		return terminal(args[1], string(output)), nil
	}
	return "", errors.New(`want "cluster", "bench <page>" or "terminal <command> <output>"`)
}
