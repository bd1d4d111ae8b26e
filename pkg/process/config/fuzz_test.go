package config_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

func FuzzLoad(f *testing.F) {
	f.Add("--workers\x001\x00x", "HECATON_X=1\x00GRACE=1s", "redis: {url: a}\n")
	f.Add("--\x00-\x00--=\x00--help=", "=\x00A", "a: &a [*a]\n")
	f.Add("--origins\x00,", "HECATON_MAX_FRAME=1e309", "? [x]\n: y\n<<: {drain: true}\n")
	f.Fuzz(func(t *testing.T, args, environ, file string) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		var s settings
		err := config.Load(&s, config.Sources{
			Args:    append([]string{"--config", path}, strings.Split(args, "\x00")...),
			Environ: strings.Split(environ, "\x00"),
			Prefix:  "HECATON_",
			Help:    io.Discard,
		})
		if err != nil && !errors.Is(err, config.ErrHelp) && err.Error() == "" {
			t.Error("an error that says nothing")
		}
	})
}
