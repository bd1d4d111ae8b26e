package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"newHTTPServer":         {"new", "http", "server"},
		"TestStrangersOnGRPC":   {"test", "strangers", "on", "grpc"},
		"other_user2test":       {"other", "user", "test"},
		"_":                     nil,
		"worldwide":             {"worldwide"},
		"URL":                   {"url"},
		"lateEndsRunLeft":       {"late", "ends", "run", "left"},
		"otherworldly_mortal_x": {"otherworldly", "mortal", "x"},
	} {
		if got := words(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, text string
		want       string // part of the one problem; empty for none
	}{
		"the field's words":      {"a.go", "package a\n\nfunc peek() {}\n", ""},
		"a comment and a string": {"a.go", "package a\n\n// The world.\nconst hello = \"mortal world\"\n", ""},
		"a part of a word":       {"a.go", "package a\n\nvar worldwide, immortality int\n", ""},
		"a function":             {"a.go", "package a\n\nfunc newWorld() {}\n", `a.go:3: newWorld has the word "world": write fixture`},
		"a plural":               {"a.go", "package a\n\nvar parcels int\n", `a.go:3: parcels has the word "parcels": write batch`},
		"a name twice":           {"a.go", "package a\n\nvar foreseen int\n\nvar _ = foreseen\n", "a.go:3: foreseen"},
		"a file":                 {"stranger_test.go", "package a\n", `stranger_test.go: the file's name has the word "stranger"`},
		"a protocol's name":      {"a.go", "package a\n\nvar OpenWorldHint bool\n", ""},
		"generated code":         {"proto/gen/a.go", "package a\n\nvar parcel int\n", ""},
		"no Go":                  {"a.md", "parcel", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			file := filepath.Join(root, test.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := check(root, []string{test.file, "deleted.go"})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
