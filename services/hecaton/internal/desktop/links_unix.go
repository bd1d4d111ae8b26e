//go:build unix

package desktop

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// linksOf returns how many names an open file has.
func linksOf(_ *os.File, info fs.FileInfo) (uint64, error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("the number of its names is not known")
	}
	return uint64(stat.Nlink), nil //nolint:unconvert // not 64 bits wide everywhere
}
