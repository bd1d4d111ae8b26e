package skill

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

//go:embed all:bundled
var bundledFiles embed.FS

// written is when the bundled skills were changed last.
var written = time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC)

// whole is a skill with all that is in its folder.
type whole struct {
	Skill
	body   string
	folder Folder
}

// readBundled reads the skills that come with the server, by name.
func readBundled() (map[string]whole, error) {
	folders := map[string]Folder{}
	err := fs.WalkDir(bundledFiles, "bundled", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, "bundled/"), "/")
		if folders[name] == nil {
			folders[name] = Folder{}
		}
		folders[name][rest], err = bundledFiles.ReadFile(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]whole, len(folders))
	for name, folder := range folders {
		text, err := folder.check()
		if err == nil && text.Name != name {
			err = fmt.Errorf("it is called %s", text.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("skill: the bundled skill %s: %w", name, err)
		}
		out[name] = whole{newSkill(text, folder, Bundled, written), text.Body, folder}
	}
	return out, nil
}

// newSkill is a skill as its folder has it.
func newSkill(text Text, folder Folder, source string, at time.Time) Skill {
	s := Skill{About: text.About, Enabled: true, Source: source, Updated: at, Size: len(folder[Main])}
	if text.Enabled != nil {
		s.Enabled = *text.Enabled
	}
	if text.Priority != nil {
		s.Priority = *text.Priority
	}
	for _, path := range slices.Sorted(maps.Keys(folder)) {
		if path != Main {
			s.Files = append(s.Files, File{path, len(folder[path]), sum(folder[path])})
		}
	}
	return s
}
