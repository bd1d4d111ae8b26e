package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// startRedisServer runs the binary without persistence, so it writes no file anywhere.
func startRedisServer(port int) (backend, error) {
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errUnavailable
	}
	args := []string{"--port", strconv.Itoa(port), "--bind", loopback, "--dir", os.TempDir(), "--save", "", "--appendonly", "no"}
	for _, s := range access.Services {
		args = append(args, "--user", string(s), "on", ">"+admission.Passwords[s])
		args = append(args, strings.Fields(s.Redis().Rules())...)
	}
	p, err := startProcess("Ready to accept connections", bin, args...)
	if err != nil && strings.Contains(err.Error(), "Address already in use") {
		return nil, fmt.Errorf("%w: %w", embedded.ErrListen, err)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}
