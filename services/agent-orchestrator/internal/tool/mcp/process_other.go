//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd)      {}
func askGroup(*os.Process)    {}
func killGroup(p *os.Process) { _ = p.Kill() } // fails only if it has ended already
