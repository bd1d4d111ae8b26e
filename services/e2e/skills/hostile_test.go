package skills_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// Archives that were made to do harm are refused, cost no more than their own request, and leave nothing behind.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*person){"archives": hostile})
}

func hostile(p *person) {
	main := text("evil", "x")
	var linked bytes.Buffer
	z := zip.NewWriter(&linked)
	link := &zip.FileHeader{Name: "evil/SKILL.md"}
	link.SetMode(fs.ModeSymlink | 0o777)
	w, err := z.CreateHeader(link)
	if err != nil {
		p.Fatal(err)
	}
	_, _ = w.Write([]byte("/etc/passwd"))
	if err := z.Close(); err != nil {
		p.Fatal(err)
	}
	lying := p.pack("SKILL.md", main, "big", strings.Repeat("\x00", 1<<20))
	at := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	copy(lying[at+24:], []byte{10, 0, 0, 0})
	many := []string{"SKILL.md", main}
	for i := range 200 {
		many = append(many, fmt.Sprint("f", i), "x")
	}
	zeros := strings.Repeat("\x00", 11<<20)
	for name, tt := range map[string]struct {
		data   []byte
		status int
		reason string
	}{
		"a path that leaves":   {p.pack("SKILL.md", main, "../../../evil", "x"), 422, "SKILL_INVALID"},
		"an absolute path":     {p.pack("SKILL.md", main, "/evil", "x"), 422, "SKILL_INVALID"},
		"a link":               {linked.Bytes(), 422, "SKILL_INVALID"},
		"more than it says":    {lying, 422, "SKILL_INVALID"},
		"201 files":            {p.pack(many...), 422, "SKILL_INVALID"},
		"a bomb":               {p.pack("SKILL.md", main, "zeros", zeros), 413, "SKILL_TOO_LARGE"},
		"many small bombs":     {p.pack("SKILL.md", main, "1", zeros[:4<<20], "2", zeros[:4<<20], "3", zeros[:4<<20]), 413, "SKILL_TOO_LARGE"},
		"more than a body has": {bytes.Repeat([]byte("x"), 13<<20), 413, "TOO_LARGE"},
		"no zip":               {[]byte("PK\x03\x04nonsense"), 422, "SKILL_INVALID"},
		"a zip in its middle":  {lying[:len(lying)/2], 422, "SKILL_INVALID"},
	} {
		r := p.upload(0, "/api/skill", "evil.zip", tt.data)
		if r.Status != tt.status || r.Body["reason"] != tt.reason {
			p.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	if got := p.names(1, "?source=upload"); got != "" {
		p.Errorf("left behind: %s", got)
	}
	if got := p.ok(200, 1, "POST", "/api/skill/sync", object{}); got["success"] != true || got["loaded"] != 0.0 {
		p.Errorf("left behind: %v", got)
	}
	p.add(0, "good", "It still works.")
}
