package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const page = "# Nodes & more\n" +
	"## What is kept, and when\n" +
	"### `Register` a [node](x.md)\n" +
	"## Again\n## Again\n" +
	"```\n# no heading\n```\n" +
	"<a id=\"old-name\"></a>\n"

func TestSections(t *testing.T) {
	t.Parallel()
	got := slices.Sorted(maps.Keys(sections(page)))
	want := []string{"again", "again-1", "nodes--more", "old-name", "register-a-node", "what-is-kept-and-when"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, text string
		want       string // part of the one problem; empty for none
	}{
		"a page":                   {"a.go", "// docs/page.md says how.", ""},
		"a section":                {"a.go", "// As in docs/page.md#what-is-kept-and-when.", ""},
		"a missing page":           {"a.go", "// See docs/lost.md.", "a.go:1: docs/lost.md: there is no docs/lost.md"},
		"a missing section":        {"a.proto", "\n// (docs/page.md#lost)", "a.proto:2: docs/page.md#lost: docs/page.md has no section #lost"},
		"the address of a section": {"alerts.yaml", "url: https://example.org/blob/main/docs/page.md#lost", "has no section #lost"},
		"a link":                   {"docs/other.md", "[here](page.md#again-1), [there](../docs), [out](https://example.org/x.md#y), [me](#top)\n# Top", ""},
		"a missing file":           {"docs/other.md", "[here](lost.svg)", "docs/other.md:1: lost.svg: there is no docs/lost.svg"},
		"a missing picture":        {"README.md", `<img alt="" src="docs/lost.svg">`, "there is no docs/lost.svg"},
		"a link's missing section": {"docs/other.md", "[here](page.md#lost)", "has no section #lost"},
		"a section of its own":     {"docs/other.md", "[here](#lost)", "has no section #lost"},
		"a link in code":           {"docs/other.md", "`[a](b)`\n```\n[here](lost.md)\n```", ""},
		"a section by its title":   {"a.go", `// (docs/page.md, "Again")`, "cite the section as docs/page.md#section"},
		"a title on the next line": {"a.go", "package a\n\n\t// (docs/page.md,\n\t// \"Again\")", "a.go:3: "},
		"a paper by its number":    {"a.go", "// (" + "seed" + " 000, what follows)", "docs/protocols"},
		"another":                  {"a.js", "// " + "facts" + ", 3.1", "docs/protocols"},
		"a third":                  {"a.txt", "the " + "design" + ", section 6", "docs/architecture.md#section"},
		"words that look like it":  {"a.go", "// artifacts, 3 of them; a random seed; by design", ""},
		"bytes":                    {"a.png", "\x00docs/lost.md", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, "docs/page.md", page)
			write(t, root, test.file, test.text)
			got, err := check(root, []string{"deleted.go", test.file})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case test.want == "" && len(got) > 0:
				t.Errorf("got %q, want nothing", got)
			case test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
