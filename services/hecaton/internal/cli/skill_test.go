package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What hecaton skill does is seen in a cluster.
func TestSkill(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	dir := filepath.Join(t.TempDir(), "report")
	write := func(path, text string) {
		t.Helper()
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", "---\nname: report\ndescription: Makes \x1b[31mreports.\n---\nDo it.")
	write("references/x.md", "more")
	write(".git/config", "hidden")
	skill := func(want int, says string, args ...string) {
		t.Helper()
		p := start(t, nil, append([]string{"skill", "--server", "http://" + c.Gateways[1].HTTP, "--user", "ana"}, args...)...)
		out := ""
		if code := p.wait(); code != want {
			t.Errorf("%v: %d %s%s", args, code, p.out.String(), p.err.String())
		}
		if out = p.out.String() + p.err.String(); !strings.Contains(out, says) || strings.Contains(out, "\x1b") {
			t.Errorf("%v says %q, not %q", args, out, says)
		}
	}
	skill(2, "control character", "add", dir)
	write("SKILL.md", "---\nname: report\ndescription: Makes reports.\ntriggers: [report]\n---\nDo it.")
	skill(0, "added report", "add", dir)
	skill(3, "there is a skill report already", "add", dir)
	skill(0, "added report", "--replace", "add", dir)
	skill(0, "references/x.md (4 bytes)", "show", "report")
	skill(0, "Makes reports.", "list")
	skill(0, "report is disabled", "disable", "report")
	skill(0, "report is enabled", "enable", "report")
	skill(0, "1 skills read", "sync")
	skill(0, "removed report", "remove", "report")
	skill(3, "no skill", "show", "report")
	skill(3, "comes with the server", "remove", "desktop")
	skill(2, "needs one name", "remove")
	skill(2, "give list", "dance")
	skill(2, "", "add", filepath.Join(dir, "nothing"))
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err == nil {
		skill(2, "is a link", "add", dir)
	}
}
