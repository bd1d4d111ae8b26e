package desktop

import (
	"io/fs"
	"os"
	"syscall"
)

// linksOf returns how many names an open file has.
func linksOf(f *os.File, _ fs.FileInfo) (uint64, error) {
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
