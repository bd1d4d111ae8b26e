package parse

import (
	"os"
	"path/filepath"
	"testing"
)

// InProcess reads a document without a process of its own.
func InProcess(t *testing.T, name string, content []byte) ([]Section, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f := formats[extension(name)]; f.whole == nil && f.apart == nil { // for Tika
		t.Skip()
	}
	return read(f, name)
}
