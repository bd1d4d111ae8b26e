package builtin_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

func fileTools(t testing.TB, files builtin.Files) []tool.Tool {
	t.Helper()
	source, err := builtin.New(builtin.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	listing, err := source.Tools(t.Context(), tool.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	return listing.Tools
}

func TestFileTools(t *testing.T) {
	t.Parallel()
	tools := fileTools(t, files(t))
	for i, step := range []struct {
		tool string
		args any
		want string // a part of the answer; the whole where it begins with =
	}{
		{"workspace_list", object{}, "No file"},
		{"workspace_read", object{"path": "a/b.txt"}, "!"},
		{"workspace_write", object{"path": "a/b.txt", "content": "one two two"}, "Wrote 11 bytes"},
		{"workspace_read", object{"path": "a/b.txt"}, "=one two two"},
		{"workspace_list", object{"prefix": "a/"}, "=a/b.txt (11 bytes)\n"},
		{"workspace_edit", object{"path": "a/b.txt", "old_text": "two", "new_text": "2"}, "!old_text is in \"a/b.txt\" 2 times"},
		{"workspace_edit", object{"path": "a/b.txt", "old_text": "three", "new_text": "3"}, "!old_text is not in"},
		{"workspace_edit", object{"path": "a/b.txt", "old_text": "one", "new_text": "1"}, "Replaced 1"},
		{"workspace_edit", object{"path": "a/b.txt", "old_text": "two", "new_text": "", "replace_all": true}, "Replaced 2"},
		{"workspace_read", object{"path": "a/b.txt"}, "=1  "},
		{"workspace_edit", object{"path": "a/b.txt", "old_text": "", "new_text": "x"}, "invalid arguments.old_text is empty"},
		{"workspace_edit", object{"path": "a/b.txt", "old_text": "x", "new_text": "x"}, "invalid arguments.new_text is the same"},
		{"workspace_edit", object{"path": "none", "old_text": "x", "new_text": "y"}, "!"},
		{"workspace_write", object{"path": "a/b.txt"}, "invalid arguments.content is missing"},
		{"workspace_write", object{"path": "../b.txt", "content": ""}, "!path"},
		{"workspace_write", object{"path": "big", "content": strings.Repeat("x", 1<<20+1)}, "!"},
		{"workspace_write", object{"path": "empty", "content": ""}, "Wrote 0"},
		{"workspace_read", object{"path": "empty"}, "=[the file is empty]"},
		{"workspace_read", object{"path": "empty", "offset": 1}, "!"},
		{"workspace_read", object{"path": "empty", "offset": -1}, "invalid arguments.offset"},
		{"workspace_read", object{"path": "empty", "limit": 1 << 20}, "invalid arguments.limit"},
		{"workspace_write", object{"path": "zero", "content": "a\x00b"}, "Wrote 3"},
		{"workspace_read", object{"path": "zero"}, "!\"zero\" is not text"},
		{"workspace_delete", object{"path": "a/b.txt"}, "Deleted"},
		{"workspace_delete", object{"path": "a/b.txt"}, "!"},
		{"workspace_read", object{"path": "a/b.txt"}, "!"},
	} {
		got := call(t, tools, step.tool, step.args)
		whole, exact := strings.CutPrefix(step.want, "=")
		if exact && got != whole || !exact && !strings.Contains(got, step.want) || strings.HasPrefix(got, "!") != strings.HasPrefix(step.want, "!") {
			t.Errorf("step %d, %s: %q, want %q", i, step.tool, got, step.want)
		}
	}
}

func TestFilesOfAnotherUser(t *testing.T) {
	t.Parallel()
	tools := fileTools(t, files(t))
	call(t, tools, "workspace_write", object{"path": "mine", "content": "x"})
	for name, args := range map[string]object{
		"workspace_read": {"path": "mine"}, "workspace_delete": {"path": "mine"}, "workspace_edit": {"path": "mine", "old_text": "x", "new_text": "y"},
	} {
		if got := callAs(t, "bob", tools, name, args); !strings.HasPrefix(got, "!") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := callAs(t, "bob", tools, "workspace_list", object{}); !strings.Contains(got, "No file") {
		t.Error(got)
	}
}

// A large file is read whole by following what each part says.
func TestReadInParts(t *testing.T) {
	t.Parallel()
	tools, text := fileTools(t, files(t)), strings.Repeat("0123456é€😀\n", 9000)
	call(t, tools, "workspace_write", object{"path": "large", "content": text})
	for _, limit := range []int{0, 4, 1000, 49152} {
		var whole strings.Builder
		args, parts := object{"path": "large"}, 0
		if limit > 0 {
			args["limit"] = limit
		}
		for next := 0; parts < 300; parts++ {
			args["offset"] = next
			got := call(t, tools, "workspace_read", args)
			if len(got) > 64<<10 || !utf8.ValidString(got) {
				t.Fatalf("limit %d: a part of %d bytes", limit, len(got))
			}
			i := strings.LastIndex(got, "\n[bytes ")
			if i < 0 {
				whole.WriteString(got)
				break
			}
			whole.WriteString(got[:i])
			if _, err := fmt.Sscanf(got[strings.LastIndex(got, "offset "):], "offset %d]", &next); err != nil {
				t.Fatalf("%s: %v", got[i:], err)
			}
		}
		if got := whole.String(); got != text[:len(got)] || limit != 4 && got != text {
			t.Errorf("limit %d: %d parts make %d bytes of %d", limit, parts, len(got), len(text))
		}
	}
	// An offset in the midst of a character leaves the character out.
	if got := call(t, tools, "workspace_read", object{"path": "large", "offset": 8, "limit": 4}); !strings.HasPrefix(got, "€\n[bytes 9 to 12 ") {
		t.Error(got)
	}
	if got := call(t, tools, "workspace_read", object{"path": "large", "offset": 10, "limit": 4}); !strings.Contains(got, "offset 12]") {
		t.Error(got)
	}
}

func TestListIsBounded(t *testing.T) {
	t.Parallel()
	store := files(t)
	const n = 700
	for i := range n {
		if err := store.Put(t.Context(), "ana", fmt.Sprintf("%s/%04d", strings.Repeat("d", 90), i), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	tools, seen := fileTools(t, store), 0
	for after := ""; ; {
		got := call(t, tools, "workspace_list", object{"after": after})
		if len(got) > 64<<10 {
			t.Fatalf("%d bytes", len(got))
		}
		seen += strings.Count(got, " bytes)\n")
		i := strings.LastIndex(got, "after ")
		if i < 0 {
			break
		}
		if _, err := fmt.Sscanf(got[i:], "after %q]", &after); err != nil {
			t.Fatal(err)
		}
	}
	if seen != n {
		t.Errorf("%d files", seen)
	}
}

func TestStorageIsAway(t *testing.T) {
	t.Parallel()
	tools := fileTools(t, broken{})
	for name, args := range map[string]object{
		"workspace_read": {"path": "x"}, "workspace_write": {"path": "x", "content": ""},
	} {
		if got := call(t, tools, name, args); !strings.HasPrefix(got, "!") || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzReadPart(f *testing.F) {
	f.Add("0é€😀", 2, 4)
	f.Fuzz(func(t *testing.T, text string, offset, limit int) {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") || len(text) > 1<<10 {
			return
		}
		store := files(t)
		if err := store.Put(t.Context(), "ana", "f", "", []byte(text)); err != nil {
			t.Fatal(err)
		}
		got := call(t, fileTools(t, store), "workspace_read", object{"path": "f", "offset": offset, "limit": limit})
		if !utf8.ValidString(got) || strings.Contains(got, "is not text") {
			t.Errorf("%q from %d, %d: %q", text, offset, limit, got)
		}
	})
}
