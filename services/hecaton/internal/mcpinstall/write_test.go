package mcpinstall_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/mcpinstall"
)

var entry = mcpinstall.Program("/bin/hecaton", "mcp", "--server", "http://127.0.0.1:8080")

func find(t *testing.T, name string) mcpinstall.Client {
	t.Helper()
	c, err := mcpinstall.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whatever else stands in a file stays, comments and order too; what cannot be kept is not touched.
func TestMergeKeepsTheRest(t *testing.T) {
	t.Parallel()
	vscode := find(t, "vscode")
	for name, tt := range map[string]struct {
		before string
		keeps  []string
		fails  string
	}{
		"nothing":          {"", nil, ""},
		"blanks":           {" \n", nil, ""},
		"an empty object":  {"{}", nil, ""},
		"another server":   {`{"servers":{"other":{"command":"x"}},"inputs":[{"id":"a"}]}`, []string{`"other"`, `"inputs"`}, ""},
		"an old entry":     {`{"servers":{"hecaton":{"command":"old"}}}`, nil, ""},
		"comments":         {"// mine\n{\n  /* why */ \"servers\": {\n    \"other\": {}, // here\n  },\n}\n", []string{"// mine", "/* why */", "// here"}, ""},
		"no JSON":          {`{"servers":`, nil, "no JSON"},
		"a list":           {`[]`, nil, "no JSON object"},
		"null":             {`null`, nil, "no JSON object"},
		"servers a list":   {`{"servers":[]}`, nil, "no object"},
		"servers a string": {`{"servers":"x"}`, nil, "no object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "mcp.json")
			if err := os.WriteFile(file, []byte(tt.before), 0o640); err != nil {
				t.Fatal(err)
			}
			changed, err := vscode.Write(file, "hecaton", entry)
			raw, readErr := os.ReadFile(file)
			info, statErr := os.Stat(file)
			if readErr != nil || statErr != nil || info.Mode().Perm() != 0o640 {
				t.Fatal(readErr, statErr, info.Mode())
			}
			after := string(raw)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || after != tt.before || changed {
					t.Errorf("%v; it says %s", err, after)
				}
				return
			}
			if err != nil || !changed || strings.Count(after, "/bin/hecaton") != 1 || strings.Contains(after, "old") {
				t.Fatalf("%v: %s", err, after)
			}
			for _, text := range tt.keeps {
				if !strings.Contains(after, text) {
					t.Errorf("%q is lost: %s", text, after)
				}
			}
			if changed, err := vscode.Write(file, "hecaton", entry); err != nil || changed {
				t.Errorf("again: %t %v", changed, err)
			}
			if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// A repository that was cloned does not choose which file is written, and a file that cannot be read is not replaced.
func TestWriteRefusesWhatIsNoPlainFile(t *testing.T) {
	t.Parallel()
	claude := find(t, "claude")
	const victim = `{"mcpServers":{}}`
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious.json")
	if err := os.WriteFile(precious, []byte(victim), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, ".mcp.json")
	dangling := filepath.Join(dir, "dangling.json")
	for from, to := range map[string]string{link: precious, dangling: filepath.Join(dir, "new.json")} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
		if _, err := claude.Write(from, "hecaton", entry); err == nil || !strings.Contains(err.Error(), "link") {
			t.Errorf("%s: %v", from, err)
		}
	}
	if raw, err := os.ReadFile(precious); err != nil || string(raw) != victim {
		t.Errorf("the file behind the link: %s %v", raw, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new.json")); err == nil {
		t.Error("the file behind a dangling link was made")
	}
	if _, err := claude.Write(dir, "hecaton", entry); err == nil {
		t.Error("a directory was taken for a file")
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(precious, 0o200); err != nil {
			t.Fatal(err)
		}
		if _, err := claude.Write(precious, "hecaton", entry); err == nil {
			t.Error("a file that cannot be read was replaced")
		}
	}
}

// A project's file is made in the project, though its directory is a link to elsewhere.
func TestProjectDirectoryThatLeadsOutside(t *testing.T) {
	outside := t.TempDir()
	t.Chdir(t.TempDir())
	if err := os.Symlink(outside, ".vscode"); err != nil {
		t.Fatal(err)
	}
	if _, err := find(t, "vscode").Write(filepath.Join(".vscode", "mcp.json"), "hecaton", entry); err == nil {
		t.Error("it was written outside")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
}

// A token goes only into a file that nobody else may read; a new one is such a file.
func TestSecretsAreKeptFromOthers(t *testing.T) {
	t.Parallel()
	cursor := find(t, "cursor")
	secret := mcpinstall.Endpoint("https://hecaton.example.org/mcp", map[string]string{"Authorization": "Bearer hct_x"})
	dir := t.TempDir()
	file := filepath.Join(dir, "new", "mcp.json")
	if _, err := cursor.Write(file, "hecaton", secret); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := cursor.Write(file, "other", secret); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("into a file for all: %v", err)
	}
	if _, err := cursor.Write(file, "other", entry); err != nil {
		t.Errorf("what is no secret: %v", err)
	}
}

func FuzzMerge(f *testing.F) {
	for _, text := range []string{"", "{}", `{"servers":{"a":{}}}`, "{ // x\n}", `{"servers":{},"servers":[]}`, `{"a":1e999}`} {
		f.Add(text)
	}
	c, err := mcpinstall.Find("vscode")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := c.Merge([]byte(text), "hecaton", entry)
		if err == nil && json.Valid([]byte(text)) && !json.Valid(out) {
			t.Errorf("%q became %q", text, out)
		}
	})
}
