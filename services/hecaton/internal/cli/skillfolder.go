package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxSkillBytes is how much of a folder is sent: a server takes no more.
const maxSkillBytes = 10 << 20

// readSkill returns what is sent for a path: a file as it is, a folder as a zip.
func readSkill(path string) (name string, data []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, usage("%w", err)
	}
	if !info.IsDir() {
		data, err = os.ReadFile(path)
		return filepath.Base(path), data, err
	}
	data, err = packFolder(path)
	return filepath.Base(path) + ".zip", data, err
}

// packFolder makes a zip of a folder, without what is hidden. Links are refused: the server would refuse them, too.
func packFolder(root string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	total := int64(0)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(d.Name(), ".") && path != root; {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return usage("%s is a link or no file: a skill has only files", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if total += int64(len(data)); total > maxSkillBytes {
			return usage("%s has more than %d bytes, which is the most of a skill", root, maxSkillBytes)
		}
		within, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		w, err := z.Create(filepath.ToSlash(within))
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the folder of the skill: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
