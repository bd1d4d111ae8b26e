package seclude

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Received reads the secret that [Restart] passed on under the same name; "" if there is none. Programs that this process
// starts cannot read it.
func Received(environ []string, name string) (string, error) {
	i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	if i < 0 {
		return "", nil
	}
	fd, err := strconv.Atoi(environ[i][len(name)+1:])
	if err != nil || fd < 3 {
		return "", fmt.Errorf("%s must be the number of an open file, from 3", name)
	}
	f := os.NewFile(uintptr(fd), name)
	if f == nil {
		return "", fmt.Errorf("%s: file %d is not open", name, fd)
	}
	secret, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(secret), nil
}

// maxSecret is how many bytes a pipe takes on every system before anybody reads from it.
const maxSecret = 16 << 10
