package pgserver

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asServer has a program of PostgreSQL end with its parent, however that ends, and run as somebody who is not root and owns
// the program's directory.
func asServer(program *exec.Cmd) error {
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // "immediate shutdown"
	if os.Geteuid() != 0 {
		return nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		if other, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return err
	}
	program.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(program.Dir, int(uid), int(gid))
}
