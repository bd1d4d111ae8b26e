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
	uid, gid, err := server()
	if err != nil {
		return err
	}
	program.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	return chown(program.Dir)
}

// chown gives a file to whom the server runs as.
func chown(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := server()
	if err != nil {
		return err
	}
	return os.Chown(path, int(uid), int(gid))
}

// server is whom the server runs as where the caller is root.
func server() (uid, gid uint32, err error) {
	other, err := user.Lookup("postgres")
	if err != nil {
		if other, err = user.Lookup("nobody"); err != nil {
			return 0, 0, err
		}
	}
	u, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	g, err := strconv.ParseUint(other.Gid, 10, 32)
	return uint32(u), uint32(g), err
}
