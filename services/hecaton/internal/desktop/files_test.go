package desktop

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "sub", "a.txt"), "line 1\nzwölf\n")
	put(t, filepath.Join(dir, "empty"), "")
	for _, path := range []string{"sub/a.txt", "./sub/../sub/a.txt", filepath.Join(dir, "sub", "a.txt")} {
		r := good(t, tools.readFile, fmt.Sprintf(`{"path":%q}`, path))
		if text(r) != "line 1\nzwölf\n" || r.Fields["size"] != int64(14) || r.Fields["truncated"] != false {
			t.Errorf("%s: %q %v", path, text(r), r.Fields)
		}
	}
	if r := good(t, tools.readFile, `{"path":"empty"}`); text(r) != "" {
		t.Errorf("%q", text(r))
	}
	if r := good(t, tools.readFile, `{"path":"empty","offset":0,"limit":4}`); text(r) != "" {
		t.Errorf("%q", text(r))
	}
}

func TestReadFileInPartsNeverCutsACharacter(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	whole := strings.Repeat("aß€😀", 50)
	put(t, filepath.Join(dir, "a"), whole)
	for limit := 4; limit < 12; limit++ {
		var got strings.Builder
		offset := int64(0)
		for offset < int64(len(whole)) {
			r := good(t, tools.readFile, fmt.Sprintf(`{"path":"a","offset":%d,"limit":%d}`, offset, limit))
			got.WriteString(r.Content[0].(node.TextContent).Text)
			next, more := r.Fields["next_offset"].(int64)
			if more != r.Fields["truncated"].(bool) {
				t.Fatalf("%v", r.Fields)
			}
			if !more {
				break
			}
			if next <= offset || !strings.Contains(text(r), fmt.Sprintf("read on with offset %d]", next)) {
				t.Fatalf("limit %d, offset %d: %v %q", limit, offset, r.Fields, text(r))
			}
			offset = next
		}
		if got.String() != whole {
			t.Fatalf("limit %d: %q", limit, got.String())
		}
	}
	// An offset inside of a character begins with the next.
	if r := good(t, tools.readFile, `{"path":"a","offset":2,"limit":4}`); r.Content[0].(node.TextContent).Text != "€" || r.Fields["offset"] != int64(3) {
		t.Fatalf("%q %v", text(r), r.Fields)
	}
}

func TestReadFileBounds(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "nul"), strings.Repeat("\x00", maxRead+1))
	if r := good(t, tools.readFile, `{"path":"nul"}`); len(r.Content[0].(node.TextContent).Text) != defaultRead || r.Fields["truncated"] != true {
		t.Errorf("%v", r.Fields)
	}
	r := good(t, tools.readFile, fmt.Sprintf(`{"path":"nul","limit":%d}`, maxRead))
	if encoded, err := json.Marshal(r.Content); err != nil || len(encoded) < 6*maxRead || len(encoded) > node.MaxFrameBytes {
		t.Errorf("%d bytes, %v", len(encoded), err)
	}
}

func TestReadFileSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "short"), "abc")
	put(t, filepath.Join(dir, "image"), "\x89PNG\r\n\x1a\n\xff\xfe")
	put(t, filepath.Join(dir, "sub", "x"), "")
	refused(t, tools.readFile, `{}`, "arguments.path is missing; give the path of a file")
	refused(t, tools.readFile, `{"path":7}`, "arguments.path must be a string, not number")
	refused(t, tools.readFile, `{"path":"short","offset":-1}`, "arguments.offset is -1, it must be a number of bytes from 0")
	refused(t, tools.readFile, `{"path":"short","limit":0}`, "arguments.limit is 0, it must be a number of bytes from 4 to 1048576")
	refused(t, tools.readFile, `{"path":"short","limit":3}`, "from 4 to 1048576") // a character might not fit
	refused(t, tools.readFile, `{"path":"short","limit":1048577}`, "from 4 to 1048576")
	bad(t, tools.readFile, `{"path":"none"}`, `"none" does not exist; list_directory shows what there is`)
	bad(t, tools.readFile, `{"path":"sub"}`, `"sub": it is a directory, a file is needed; list_directory shows what is in it`)
	bad(t, tools.readFile, `{"path":"short/x"}`, `"short/x": not a directory`)
	bad(t, tools.readFile, `{"path":"short","offset":4}`, `"short" has 3 bytes, offset 4 is behind its end`)
	bad(t, tools.readFile, `{"path":"image"}`, `"image" is not UTF-8 text but image/png; run_command can convert it`)
}

// TestNothingLeadsOut tries each way out with each tool that takes a path.
func TestNothingLeadsOut(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	put(t, secret, "secret")
	put(t, filepath.Join(dir, "sub", "deep", "x"), "")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	relative, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	link(outside, "absolute-dir")
	link(secret, "absolute-file")
	link(relative, "relative-dir")
	link(filepath.Join(relative, "secret"), "relative-file")
	link("sub/../../"+filepath.Base(dir)+"/../..", "winding")
	link("chain-2", "chain-1")
	link("relative-file", "chain-2")
	link("..", "parent")
	link("sub/deep", "inner") // inner/../.. is the allowed directory to the system, its parent to the eye
	link(filepath.Join(outside, "new"), "dangling")

	tryAll := func(path string) {
		quoted := fmt.Sprintf("%q", path)
		bad(t, tools.readFile, `{"path":`+quoted+`}`, "leads out of the allowed directory")
		bad(t, tools.writeFile, `{"path":`+quoted+`,"content":"overwritten"}`, "leads out of the allowed directory")
		bad(t, tools.writeFile, `{"path":`+quoted+`,"content":"overwritten","append":true}`, "leads out of the allowed directory")
		bad(t, tools.listDirectory, `{"path":`+quoted+`}`, "leads out of the allowed directory")
		bad(t, tools.runCommand, `{"command":"touch escaped","cwd":`+quoted+`}`, "leads out of the allowed directory")
	}
	for _, path := range []string{
		"..", "../", "../secret", "sub/../../secret", "sub/../..", "/", "/etc/passwd", secret, outside, dir + "/../x", dir + "-other",
		"absolute-dir/secret", "absolute-file", "relative-dir/secret", "relative-file", "winding/x", "chain-1", "parent/x", "dangling", "inner/../..",
	} {
		tryAll(path)
	}
	if got := contentOf(t, secret); got != "secret" {
		t.Errorf("the secret is %q", got)
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) != 1 {
		t.Errorf("%v %v", found, err)
	}
}

func TestLinksInsideAreFollowed(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "deep", "er", "file"), "old")
	for name, target := range map[string]string{"dir": "deep/er", "link": "dir/file", "deep/up": "../link", "deep/er/beside": "../other", "new": "deep/made", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := good(t, tools.readFile, `{"path":"deep/up"}`); text(r) != "old" {
		t.Error(text(r))
	}
	good(t, tools.writeFile, `{"path":"deep/up","content":"new"}`)
	good(t, tools.writeFile, `{"path":"new","content":"made"}`)
	good(t, tools.writeFile, `{"path":"dir/beside","content":"beside"}`)
	if got := contentOf(t, filepath.Join(dir, "deep", "other")); got != "beside" {
		t.Errorf("the file has %q", got)
	}
	bad(t, tools.writeFile, `{"path":"loop","content":"x"}`, "too many links")
	if got := contentOf(t, filepath.Join(dir, "deep", "er", "file")); got != "new" {
		t.Errorf("the file has %q", got)
	}
	if got := contentOf(t, filepath.Join(dir, "deep", "made")); got != "made" {
		t.Errorf("the file has %q", got)
	}
	for _, name := range []string{"link", "deep/up", "new"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	if r := good(t, tools.runCommand, `{"command":"pwd -P","cwd":"dir"}`); r.Fields["stdout"] != filepath.Join(dir, "deep", "er")+"\n" {
		t.Errorf("%q", r.Fields["stdout"])
	}
}

func TestAllowedDirectoryThroughALink(t *testing.T) {
	t.Parallel()
	_, dir := open(t)
	put(t, filepath.Join(dir, "real", "a"), "text")
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	tools, err := Open(link, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	for _, path := range []string{"a", filepath.Join(link, "a"), filepath.Join(dir, "real", "a")} {
		if r := good(t, tools.readFile, fmt.Sprintf(`{"path":%q}`, path)); text(r) != "text" {
			t.Errorf("%s: %q", path, text(r))
		}
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	path := filepath.Join(dir, "made", "on", "the", "way.txt")
	r := good(t, tools.writeFile, `{"path":"made/on/the/way.txt","content":"zwölf"}`)
	if text(r) != `Wrote 6 bytes to "made/on/the/way.txt", which has 6 now` || contentOf(t, path) != "zwölf" {
		t.Errorf("%s, %q", text(r), contentOf(t, path))
	}
	r = good(t, tools.writeFile, `{"path":"made/on/the/way.txt","content":"!","append":true}`)
	if r.Fields["bytes_written"] != 1 || r.Fields["size"] != int64(7) || contentOf(t, path) != "zwölf!" {
		t.Errorf("%v, %q", r.Fields, contentOf(t, path))
	}
	good(t, tools.writeFile, `{"path":"new.log","content":"first","append":true}`)
	good(t, tools.writeFile, fmt.Sprintf(`{"path":%q,"content":""}`, path))
	if contentOf(t, path) != "" || contentOf(t, filepath.Join(dir, "new.log")) != "first" {
		t.Error("wrong contents")
	}
}

func TestWriteFileKeepsPermissionsAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	script := filepath.Join(dir, "script")
	put(t, script, "old")
	if err := os.Chmod(script, 0o772); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(script)
	if err != nil {
		t.Fatal(err)
	}
	good(t, tools.writeFile, `{"path":"script","content":"new"}`)
	after, err := os.Stat(script)
	if err != nil || after.Mode() != before.Mode() || os.SameFile(before, after) {
		t.Errorf("%v %v: it must be a new file with the old permissions", after.Mode(), err)
	}
	if found, _ := os.ReadDir(dir); len(found) != 1 {
		t.Errorf("%v", found)
	}
}

func TestWriteFileThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "sub", "x"), "")
	if err := tools.replace("", "sub", []byte("text"), nil); err == nil {
		t.Error("a directory was replaced")
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 1 {
		t.Errorf("%v %v", found, err)
	}
}

func TestWriteFileIsSeenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	versions := []string{strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)}
	put(t, filepath.Join(dir, "f"), versions[0])
	done := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != versions[0] && string(got) != versions[1] {
				t.Errorf("%d bytes, %v", len(got), err)
				return
			}
		}
	})
	for i := range 20 {
		good(t, tools.writeFile, fmt.Sprintf(`{"path":"f","content":%q}`, versions[i%2]))
	}
	close(done)
	readers.Wait()
}

func TestWriteFileSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "file"), "kept")
	put(t, filepath.Join(dir, "sub", "x"), "")
	refused(t, tools.writeFile, `{"content":"x"}`, "arguments.path is missing; give the path of a file")
	refused(t, tools.writeFile, `{"path":"a"}`, "arguments.content is missing; give the text, which may be empty")
	refused(t, tools.writeFile, `{"path":"a","content":7}`, "arguments.content must be a string, not number")
	refused(t, tools.writeFile, `{"path":"a","content":"x","append":"yes"}`, "arguments.append must be a boolean, not string")
	refused(t, tools.writeFile, `{"path":"a","content":"`+strings.Repeat("x", maxWrite+1)+`"}`, "has 8388609 bytes, at most 8388608 are written at once")
	bad(t, tools.writeFile, `{"path":"sub","content":"x"}`, `"sub": it is a directory, a file is needed`)
	bad(t, tools.writeFile, `{"path":".","content":"x"}`, `it is a directory`)
	bad(t, tools.writeFile, `{"path":"none/","content":"x"}`, `"none/": it names a directory; give the path of a file`)
	bad(t, tools.writeFile, `{"path":"file/below","content":"x"}`, `"file/below": not a directory`)
	if contentOf(t, filepath.Join(dir, "file")) != "kept" {
		t.Error("the file was changed")
	}
	good(t, tools.writeFile, `{"path":"a","content":"`+strings.Repeat("x", maxWrite)+`"}`)
}

func TestListDirectory(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	if r := good(t, tools.listDirectory, `{}`); text(r) != "(empty)" || len(r.Fields["entries"].([]entry)) != 0 {
		t.Errorf("%q", text(r))
	}
	put(t, filepath.Join(dir, "b.txt"), "12345")
	put(t, filepath.Join(dir, "a", "inner"), "")
	put(t, filepath.Join(dir, "two\nlines"), "")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "b.txt"), when, when); err != nil {
		t.Fatal(err)
	}
	want := "a/\nb.txt (5 bytes)\nlink (symlink)\n\"two\\nlines\" (0 bytes)\n"
	for _, arguments := range []string{`{}`, `{"path":"."}`, `{"path":"a/.."}`, fmt.Sprintf(`{"path":%q}`, dir)} {
		r := good(t, tools.listDirectory, arguments)
		if text(r) != want || r.Fields["truncated"] != false {
			t.Errorf("%s: %q", arguments, text(r))
		}
		encoded, err := json.Marshal(r.Fields["entries"].([]entry)[1])
		if err != nil || string(encoded) != `{"name":"b.txt","type":"file","size":5,"modified":"2026-01-02T03:04:05Z"}` {
			t.Errorf("%s %v", encoded, err)
		}
	}
	if r := good(t, tools.listDirectory, `{"path":"a"}`); text(r) != "inner (0 bytes)\n" {
		t.Errorf("%q", text(r))
	}
	refused(t, tools.listDirectory, `{"path":[]}`, "arguments.path must be a string, not array")
	bad(t, tools.listDirectory, `{"path":"none"}`, `"none" does not exist`)
	bad(t, tools.listDirectory, `{"path":"b.txt"}`, `"b.txt": it is not a directory; read_file reads files`)
}

func TestListDirectoryIsBounded(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	for i := range maxEntries + 5 {
		put(t, filepath.Join(dir, fmt.Sprintf("%04d", i)), "")
	}
	r := good(t, tools.listDirectory, `{}`)
	if len(r.Fields["entries"].([]entry)) != maxEntries || r.Fields["truncated"] != true || !strings.Contains(text(r), "[only 1000 entries are shown; there are more]") {
		t.Errorf("%d entries, %v", len(r.Fields["entries"].([]entry)), r.Fields["truncated"])
	}
}

func TestClosedToolsFail(t *testing.T) {
	t.Parallel()
	tools, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.Close(); err != nil {
		t.Fatal(err)
	}
	bad(t, tools.readFile, `{"path":"a"}`, "closed")
	bad(t, tools.listDirectory, `{}`, "closed")
}
