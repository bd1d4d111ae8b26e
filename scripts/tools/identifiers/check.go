package main

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// generated is where the code is that protoc writes.
const generated = "proto/gen/"

// check returns what is wrong with the names of files, which are relative to root, and with the identifiers in them. A file
// that is not there is ignored: it was deleted, and Git does not know yet.
func check(root string, files []string) (problems []string, err error) {
	for _, name := range files {
		if path.Ext(name) != ".go" || strings.HasPrefix(name, generated) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if advice := advise(strings.TrimSuffix(path.Base(name), ".go")); advice != "" {
			problems = append(problems, fmt.Sprintf("%s: the file's name has %s", name, advice))
		}
		problems = append(problems, identifiers(name, text)...)
	}
	return problems, nil
}

// identifiers returns what is wrong with the identifiers of a file, each at its first line.
func identifiers(name string, text []byte) (problems []string) {
	file := token.NewFileSet().AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0) // what does not parse is the compiler's to report
	seen := map[string]bool{}
	for pos, tok, literal := s.Scan(); tok != token.EOF; pos, tok, literal = s.Scan() {
		if tok != token.IDENT || seen[literal] || protocols[literal] {
			continue
		}
		seen[literal] = true
		if advice := advise(literal); advice != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: %s has %s", name, file.Line(pos), literal, advice))
		}
	}
	return problems
}

// advise returns which word of a name is replaced and by what; "" if none is.
func advise(name string) string {
	for _, word := range words(name) {
		for _, w := range []string{word, strings.TrimSuffix(word, "s")} {
			if instead, ok := replaced[w]; ok {
				return fmt.Sprintf("the word %q: write %s", word, instead)
			}
		}
	}
	return ""
}

// words splits a name at underscores and where a capital begins a word, as in newHTTPServer, and returns its words in lower case.
func words(name string) (all []string) {
	letters := []rune(name)
	begin := 0
	end := func(i int) {
		if i > begin {
			all = append(all, strings.ToLower(string(letters[begin:i])))
		}
		begin = i
	}
	for i, r := range letters {
		switch {
		case r == '_' || unicode.IsDigit(r):
			end(i)
			begin = i + 1
		case i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])):
			end(i)
		}
	}
	end(len(letters))
	return all
}
