package access_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

// deployed is where the files are that are made of the table.
const deployed = "../../../deploy/helm/hecaton/files"

func TestDeployedFilesAreMadeOfTheTable(t *testing.T) {
	t.Parallel()
	for name, want := range access.Files() {
		got, err := os.ReadFile(filepath.Join(deployed, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the table makes: run make manifests", name)
		}
	}
}
