package testkit

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// endWithParent makes the kernel kill the child when its parent dies, however that happens.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// asServer has PostgreSQL, which refuses to run as root, run as another user, who then owns the directory.
func (c *cluster) asServer(cmd *exec.Cmd) error {
	cmd.Dir = c.dir
	cmd.SysProcAttr = endWithParent()
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
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(c.dir, int(uid), int(gid))
}
