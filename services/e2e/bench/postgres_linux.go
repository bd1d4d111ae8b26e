package main

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

const canPostgres = true

// postgresCommand runs a program of PostgreSQL, which refuses to run as root, in a directory, as the directory's owner.
func postgresCommand(dir, name string, args ...string) (*exec.Cmd, error) {
	bin, err := postgresProgram(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // "immediate shutdown", where nobody could stop it
	if os.Geteuid() != 0 {
		return cmd, nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		if other, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return cmd, os.Chown(dir, int(uid), int(gid))
}
