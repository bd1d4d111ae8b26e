package workspace_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func TestMain(m *testing.M) {
	// The credentials of the fake S3; the driver takes them from the environment only.
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "local"} {
		_ = os.Setenv(name, value)
	}
	testkit.Main(m)
}

func open(t testing.TB, o workspace.Options) *workspace.Store {
	t.Helper()
	s, err := workspace.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fakeS3 serves an empty bucket, and returns its URL.
func fakeS3(t testing.TB) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return "s3://files?use_path_style=true&region=local&endpoint=" + server.URL
}

// each runs a test on every storage.
func each(t *testing.T, maxBytes int64, test func(t *testing.T, s *workspace.Store)) {
	for name, url := range map[string]func(testing.TB) string{
		"file":     func(t testing.TB) string { return workspace.DirURL(filepath.Join(t.TempDir(), "made", "here")) },
		"mem":      func(testing.TB) string { return "mem://" },
		"s3":       fakeS3,
		"postgres": func(t testing.TB) string { return testkit.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, workspace.Options{URL: url(t), MaxBytes: maxBytes}))
		})
	}
}

func put(t testing.TB, s *workspace.Store, user ids.UserID, path, data string) workspace.File {
	t.Helper()
	if err := s.Put(t.Context(), user, path, "", []byte(data)); err != nil {
		t.Fatalf("put %s: %v", path, err)
	}
	file, err := s.Stat(t.Context(), user, path)
	if err != nil {
		t.Fatalf("stat %s: %v", path, err)
	}
	return file
}

func wantFile(t testing.TB, s *workspace.Store, user ids.UserID, path, want string) {
	t.Helper()
	file, got, err := s.Get(t.Context(), user, path)
	if err != nil || string(got) != want || file.Size != int64(len(want)) || file.Path != path {
		t.Errorf("%s of %q: %q %+v, %v; want %q", path, user, got, file, err, want)
	}
}

func list(t testing.TB, s *workspace.Store, user ids.UserID, prefix string) string {
	t.Helper()
	page, err := s.List(t.Context(), user, prefix, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	return paths(page)
}

func paths(page workspace.Page) string {
	names := make([]string, 0, len(page.Files))
	for _, file := range page.Files {
		names = append(names, file.Path)
	}
	return strings.Join(names, " ")
}

func TestFiles(t *testing.T) {
	t.Parallel()
	each(t, 0, func(t *testing.T, s *workspace.Store) {
		first := put(t, s, "ana", "uploads/a.txt", "one")
		wantFile(t, s, "ana", "uploads/a.txt", "one")
		second := put(t, s, "ana", "uploads/a.txt", "three")
		wantFile(t, s, "ana", "uploads/a.txt", "three")
		if first.ETag == second.ETag || first.ETag == "" {
			t.Errorf("the etags are %q and %q", first.ETag, second.ETag)
		}
		put(t, s, "ana", "uploads/empty", "")
		wantFile(t, s, "ana", "uploads/empty", "")

		stat, err := s.Stat(t.Context(), "ana", "uploads/a.txt")
		got, _, _ := s.Get(t.Context(), "ana", "uploads/a.txt")
		page, listErr := s.List(t.Context(), "ana", "uploads/a", 0, "")
		if err != nil || listErr != nil || stat != second || got != second || len(page.Files) != 1 || page.Files[0] != second {
			t.Errorf("put %+v, stat %+v %v, get %+v, list %+v %v", second, stat, err, got, page, listErr)
		}
		if second.Updated.IsZero() || second.ContentType != "text/plain; charset=utf-8" {
			t.Errorf("%+v", second)
		}

		if err := s.Delete(t.Context(), "ana", "uploads/a.txt"); err != nil {
			t.Error(err)
		}
		for name, err := range map[string]error{
			"get": err3(s.Get(t.Context(), "ana", "uploads/a.txt")), "stat": err2(s.Stat(t.Context(), "ana", "uploads/a.txt")),
			"delete": s.Delete(t.Context(), "ana", "uploads/a.txt"), "delete a directory": s.Delete(t.Context(), "ana", "uploads"),
			"get a directory": err3(s.Get(t.Context(), "ana", "uploads")), "get below a file": err3(s.Get(t.Context(), "ana", "uploads/empty/x")),
			"delete below a file": s.Delete(t.Context(), "ana", "uploads/empty/x"),
		} {
			if !errors.Is(err, errs.FileNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantFile(t, s, "ana", "uploads/empty", "")
	})
}

func err3[A, B any](_ A, _ B, err error) error { return err }
func err2[A any](_ A, err error) error         { return err }

func TestContentTypes(t *testing.T) {
	t.Parallel()
	each(t, 0, func(t *testing.T, s *workspace.Store) {
		for _, tt := range []struct{ path, given, data, want string }{
			{"a", "application/x-own; v=2", "x", "application/x-own; v=2"},
			{"a.md", "", "# x", "text/markdown; charset=utf-8"},
			{"A.JSON", "", "{}", "application/json"},
			{"shot", "", "\x89PNG\r\n\x1a\n", "image/png"},
			{"page", "no type", "<html>", "text/html; charset=utf-8"},
			{"data.bin", "", "\x00\x01", "application/octet-stream"},
		} {
			err := s.Put(t.Context(), "ana", tt.path, tt.given, []byte(tt.data))
			got, _, getErr := s.Get(t.Context(), "ana", tt.path)
			if err != nil || getErr != nil || got.ContentType != tt.want {
				t.Errorf("%s: %q, %v, %v; want %q", tt.path, got.ContentType, err, getErr, tt.want)
			}
		}
	})
}

func TestSizes(t *testing.T) {
	t.Parallel()
	each(t, 10, func(t *testing.T, s *workspace.Store) {
		put(t, s, "ana", "a", "0123456789")
		err := s.Put(t.Context(), "ana", "a", "", []byte("0123456789x"))
		if !errors.Is(err, errs.FileTooLarge) || !strings.Contains(err.Error(), "10 bytes") {
			t.Errorf("11 bytes: %v", err)
		}
		wantFile(t, s, "ana", "a", "0123456789")
	})
}

// No user reaches another's files, whatever the ids are, and none sees names that it did not choose.
func TestUsersAreApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", ids.MaxBytes)
	users := []ids.UserID{
		"ana", "Ana", "ANA", "ana/workspace", "..", "../ana", ".", "/", "ana/", "%2e%2e", "=41na", "=2e", "a b", "ü", "u\u0308", "__0x2f__",
		ids.UserID(long), ids.UserID(long[1:]), ids.UserID(long[:200]), ids.UserID(long[:199]), ids.UserID(strings.Repeat("/", ids.MaxBytes)),
		"users", "workspace", "con", "ana.", "ana ", "*", "ana+",
	}
	each(t, 0, func(t *testing.T, s *workspace.Store) {
		for _, user := range users {
			put(t, s, user, "uploads/mine.txt", fmt.Sprintf("of %q", user))
			put(t, s, user, "workspace/x", "")
		}
		for _, user := range users {
			wantFile(t, s, user, "uploads/mine.txt", fmt.Sprintf("of %q", user))
			if got := list(t, s, user, ""); got != "uploads/mine.txt workspace/x" {
				t.Errorf("%q sees %s", user, got)
			}
		}
		for _, user := range []ids.UserID{"", "a\x00", "a\nb", "\xff", ids.UserID(long + "x")} {
			for what, err := range map[string]error{
				"put":    s.Put(t.Context(), user, "a", "", nil),
				"get":    err3(s.Get(t.Context(), user, "a")),
				"list":   err2(s.List(t.Context(), user, "", 0, "")),
				"delete": s.Delete(t.Context(), user, "a"),
			} {
				if !errors.Is(err, errs.InvalidArgument) {
					t.Errorf("%s as %q: %v", what, user, err)
				}
			}
		}
	})
}

func TestPaths(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 255)
	each(t, 0, func(t *testing.T, s *workspace.Store) {
		for path, says := range map[string]string{
			"": "is empty", "/etc/passwd": "begins with /", "a/": "ends with /", "a//b": "empty name", "../a": `".."`, "a/../b": `".."`,
			"a/..": `".."`, "./a": `"."`, ".": `"."`, "..": `".."`, "a\x00b": "U+0000", "a\nb": "U+000A", "a\u009bb": "U+009B",
			"a\xff": "UTF-8", `a\b`: `\`, "x/" + name + "n": "256 bytes", strings.Repeat("d/", 512) + "x": "1025 bytes",
		} {
			err := s.Put(t.Context(), "ana", path, "", nil)
			if !errors.Is(err, errs.InvalidArgument) || !strings.Contains(err.Error(), says) {
				t.Errorf("put %q: %v", path, err)
			}
			if err := err3(s.Get(t.Context(), "ana", path)); !errors.Is(err, errs.InvalidArgument) {
				t.Errorf("get %q: %v", path, err)
			}
		}
		for _, prefix := range []string{"/", "..", "../", "a/../", "a//", "\x00"} {
			if _, err := s.List(t.Context(), "ana", prefix, 0, ""); !errors.Is(err, errs.InvalidArgument) {
				t.Errorf("list %q: %v", prefix, err)
			}
		}
		odd := []string{
			"a..b", "...", ".hidden", "sp ace", "ü/ñ 漢字.txt", name, strings.Repeat("ü", 127) + "x", "x.attrs", "X.ATTRS", "x.tmp", "d.tmp/x",
			"x=", "x.tmp=", "x+=/y", "__0x2f__", "%2e%2e", "a?b*c", "-", "~", strings.Repeat("d/", 400) + "deep", "x.attrs.attrs",
			name[:200] + "/" + name[200:], name[:200] + "+=",
		}
		for _, path := range odd {
			put(t, s, "ben", path, path)
		}
		for _, path := range odd {
			wantFile(t, s, "ben", path, path)
			if got := list(t, s, "ben", path); !strings.Contains(got, path) {
				t.Errorf("%q is not listed: %q", path, got)
			}
			if path[0] < 0x80 && !strings.Contains(list(t, s, "ben", path[:1]), path) {
				t.Errorf("%q is not listed under its first letter", path)
			}
		}
		if page, err := s.List(t.Context(), "ben", "", 0, ""); err != nil || len(page.Files) != len(odd) {
			t.Errorf("%d are listed, %v, of %d", len(page.Files), err, len(odd))
		}
	})
}

// Listings go by path, and page by page nothing is left out or told twice.
func TestList(t *testing.T) {
	t.Parallel()
	each(t, 0, func(t *testing.T, s *workspace.Store) {
		if got := list(t, s, "ana", ""); got != "" {
			t.Errorf("at first there is %s", got)
		}
		for _, path := range []string{"b", "a/1", "a/2", "a/3", "a-b", "a.txt", "uploads/x", "uploads2/y"} {
			put(t, s, "ana", path, path)
		}
		all := "a-b a.txt a/1 a/2 a/3 b uploads/x uploads2/y"
		if got := list(t, s, "ana", ""); got != all {
			t.Errorf("got %s", got)
		}
		for prefix, want := range map[string]string{"uploads/": "uploads/x", "uploads": "uploads/x uploads2/y", "a/2": "a/2", "none/": "", "b/": ""} {
			if got := list(t, s, "ana", prefix); got != want {
				t.Errorf("%q: got %q", prefix, got)
			}
		}
		for limit := 1; limit <= 9; limit++ {
			var got []string
			for cursor := ""; ; {
				page, err := s.List(t.Context(), "ana", "", limit, cursor)
				if err != nil || len(page.Files) > limit {
					t.Fatalf("%d files, %v", len(page.Files), err)
				}
				got = append(got, paths(page))
				if cursor = page.Cursor; cursor == "" {
					break
				}
			}
			if strings.Join(got, " ") != all {
				t.Errorf("by %d: %q", limit, got)
			}
		}
		for _, err := range []error{
			err2(s.List(t.Context(), "ana", "", -1, "")), err2(s.List(t.Context(), "ana", "", 0, "../x")),
		} {
			if !errors.Is(err, errs.InvalidArgument) {
				t.Error(err)
			}
		}
	})
}

// Whoever reads while others write gets one of the versions, whole.
func TestPutIsAtomic(t *testing.T) {
	t.Parallel()
	each(t, 0, func(t *testing.T, s *workspace.Store) {
		version := func(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i)}, 1000+i) }
		put(t, s, "ana", "x", string(version(0)))
		var writing sync.WaitGroup
		for i := range 8 {
			writing.Go(func() {
				for range 10 {
					if err := s.Put(t.Context(), "ana", "x", fmt.Sprintf("text/v%d", i), version(i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { defer close(done); writing.Wait() }()
		for {
			_, data, err := s.Get(t.Context(), "ana", "x")
			if err != nil || len(data) < 1000 || !bytes.Equal(data, version(len(data)-1000)) {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
}

// On a file system a path cannot lead through a file, and what a dead writer left is no file.
func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, workspace.Options{URL: workspace.DirURL(dir)})
	put(t, s, "ana", "a/b", "x")
	for _, path := range []string{"a/b/c", "a"} {
		if err := s.Put(t.Context(), "ana", path, "", nil); !errors.Is(err, errs.InvalidArgument) {
			t.Errorf("%s: %v", path, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "users", "ana", "workspace", "a", "b"))
	if err != nil || string(raw) != "x" {
		t.Errorf("%q, %v: the key is not the documented one", raw, err)
	}
	left := filepath.Join(dir, "users", "ana", "workspace", "a", "c.18b3f6d2a9c0e7d1.tmp")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, "ana", ""); got != "a/b" {
		t.Errorf("listed: %s", got)
	}
	again := open(t, workspace.Options{URL: workspace.DirURL(dir)})
	wantFile(t, again, "ana", "a/b", "x")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "gs://bucket", "s3://", workspace.DirURL(file), workspace.DirURL(filepath.Join(file, "below")), ":secret"} {
		s, err := workspace.Open(t.Context(), workspace.Options{URL: url})
		if err == nil {
			_ = s.Close()
			t.Errorf("%q can be opened", url)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the URL: %v", err)
		}
	}
}

// A storage that is away is said to be, without its address.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	s := open(t, workspace.Options{URL: "s3://files?use_path_style=true&region=local&endpoint=" + server.URL})
	_, _, err := s.Get(t.Context(), "ana", "x")
	var e *errs.Error
	if !errors.As(err, &e) || e.Reason != errs.AgentUnavailable || strings.Contains(e.Message, "127.0.0.1") {
		t.Errorf("got %v", err)
	}
}
