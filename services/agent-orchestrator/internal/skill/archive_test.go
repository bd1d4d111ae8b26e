package skill_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
)

const main = "---\nname: a\ndescription: b\n---\nbody"

// pack makes a zip of pairs of names and contents.
func pack(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnzip(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"a folder":  pack(t, "a/", "", "a/SKILL.md", main, "a/references/x.md", "x", "__MACOSX/._a", "y", "a/.DS_Store", "z"),
		"its files": pack(t, "SKILL.md", main, "references/x.md", "x"),
	} {
		folder, err := skill.Unzip(data)
		if err != nil || len(folder) != 2 || string(folder["SKILL.md"]) != main || string(folder["references/x.md"]) != "x" {
			t.Errorf("%s: %v, %v", name, folder, err)
		}
	}
}

func TestUnzipRefuses(t *testing.T) {
	t.Parallel()
	many := []string{"a/SKILL.md", main}
	for i := range 200 {
		many = append(many, fmt.Sprint("a/f", i), "x")
	}
	link := &zip.FileHeader{Name: "a/link"}
	link.SetMode(fs.ModeSymlink | 0o777)
	var linked bytes.Buffer
	z := zip.NewWriter(&linked)
	w, err := z.CreateHeader(link)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("/etc/passwd"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	lying := func(size byte) []byte { // the entry says less than it has
		data := pack(t, "SKILL.md", strings.Repeat("x", 200))
		at := bytes.Index(data, []byte("PK\x01\x02"))
		data[at+24], data[at+25] = size, 0
		return data
	}
	bomb := pack(t, "a/SKILL.md", main, "a/zeros", strings.Repeat("\x00", skill.MaxBytes+1))
	for name, tt := range map[string]struct {
		data []byte
		want errs.Reason
	}{
		"no zip":               {[]byte("PK\x03\x04 nonsense"), errs.SkillInvalid},
		"nothing":              {nil, errs.SkillInvalid},
		"an empty zip":         {pack(t), errs.SkillInvalid},
		"a path that leaves":   {pack(t, "a/SKILL.md", main, "a/../../x", "y"), errs.SkillInvalid},
		"a folder that leaves": {pack(t, "a/SKILL.md", main, "../", ""), errs.SkillInvalid},
		"an absolute path":     {pack(t, "SKILL.md", main, "/etc/x", "y"), errs.SkillInvalid},
		"a backslash":          {pack(t, "SKILL.md", main, `..\x`, "y"), errs.SkillInvalid},
		"a drive":              {pack(t, "SKILL.md", main, "c:x", "y"), errs.SkillInvalid},
		"a link":               {linked.Bytes(), errs.SkillInvalid},
		"two folders":          {pack(t, "a/SKILL.md", main, "b/x", "y"), errs.SkillInvalid},
		"no SKILL.md":          {pack(t, "a/x", "y"), errs.SkillInvalid},
		"a file twice":         {pack(t, "SKILL.md", main, "x", "1", "x", "2"), errs.SkillInvalid},
		"too many files":       {pack(t, many...), errs.SkillInvalid},
		"less than it has":     {lying(10), errs.SkillInvalid},
		"more than it has":     {lying(250), errs.SkillInvalid},
		"a bomb":               {bomb, errs.SkillTooLarge},
		"too many bytes":       {make([]byte, skill.MaxUpload+1), errs.SkillTooLarge},
	} {
		if _, err := skill.Unzip(tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzUnzip(f *testing.F) {
	f.Add(pack(f, "a/SKILL.md", main, "a/x", "y"))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder, err := skill.Unzip(data)
		var e *errs.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("an error that is not ours: %v", err)
		}
		for path := range folder {
			if strings.HasPrefix(path, "/") || strings.Contains("/"+path+"/", "/../") {
				t.Errorf("%q leaves", path)
			}
		}
	})
}
