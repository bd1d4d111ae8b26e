package desktop

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SandboxMode says what run_command does about bubblewrap (https://github.com/containers/bubblewrap).
type SandboxMode string

// The modes.
const (
	SandboxAuto    SandboxMode = "auto"    // uses it where it works; also ""
	SandboxRequire SandboxMode = "require" // or Open fails
	SandboxOff     SandboxMode = "off"
)

// SandboxOptions are what commands run in.
type SandboxOptions struct {
	Mode SandboxMode
	// Network lets commands in a sandbox use the network, this machine's own services included.
	Network bool
	// Read are directories and files that commands in a sandbox may read beside those of the system.
	Read []string
	// Hide are files that no command in a sandbox may read, wherever they are.
	Hide []string
}

// system are the directories with the programs of a machine, as far as they exist. They contain no home directories, no
// data of other users and no sockets of services.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap"}

// resolvers are the places to which /etc/resolv.conf links on machines that generate it at each start.
var resolvers = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/mnt/wsl/resolv.conf"}

// sandbox starts programs by bubblewrap: they may write to the allowed directory only, read that and [system], and see no
// process but their own.
type sandbox struct {
	program string   // bwrap's absolute path
	args    []string // what is the same for all commands
	network bool
}

// newSandbox returns a sandbox of one directory, given by all names that lead to it; the last one is its real path.
func newSandbox(program string, dirs []string, o SandboxOptions) (*sandbox, error) {
	s := &sandbox{program: program, network: o.Network, args: []string{
		"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--new-session", "--die-with-parent", "--cap-drop", "ALL", "--dev", "/dev", "--proc", "/proc",
		"--tmpfs", "/tmp", "--tmpfs", "/run", "--dir", "/var/tmp", "--symlink", "../run", "/var/run",
	}}
	see := func(paths []string) {
		for _, path := range paths {
			s.args = append(s.args, "--ro-bind-try", path, path)
		}
	}
	visible := slices.Clone(system)
	if o.Network {
		visible = append(visible, resolvers...)
	} else {
		s.args = append(s.args, "--unshare-net")
	}
	see(visible)
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) && home != "/" {
		s.args = append(s.args, "--tmpfs", home) // also where it is in one of the system's directories
	}
	more, err := resolveAll(o.Read)
	if err != nil {
		return nil, fmt.Errorf("what commands may read: %w", err)
	}
	see(more)
	at := dirs[len(dirs)-1]
	for _, dir := range dirs {
		s.args = append(s.args, "--bind", at, dir)
	}
	hidden, err := resolveAll(o.Hide)
	if err != nil {
		return nil, fmt.Errorf("what commands may not read: %w", err)
	}
	visible = append(append(visible, more...), at)
	for _, path := range hidden {
		if slices.ContainsFunc(visible, func(dir string) bool { return within(dir, path) }) {
			s.args = append(s.args, "--ro-bind", "/dev/null", path)
		}
	}
	s.args = append(s.args, "--remount-ro", "/")
	return s, nil
}

func resolveAll(paths []string) (all []string, err error) {
	for _, path := range paths {
		if path, err = resolved(path); err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// resolved is the path without links of what is there.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// within reports whether a path is a directory or lies in it; both are absolute.
func within(dir, path string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(relative)
}

// wrap returns a program that runs p in the sandbox.
func (s *sandbox) wrap(p process) process {
	p.args = slices.Concat(s.args, []string{"--chdir", p.dir, "--", p.name}, p.args)
	p.name, p.dir = s.program, "/"
	return p
}

// startFailed is bubblewrap's message that a program does not exist. A program could print the same; then it is treated as
// not started.
const startFailed = "bwrap: execvp "

// notStarted returns why a program in a sandbox could not be started; "" if it was.
func notStarted(o outcome) string {
	said := o.stderr.text()
	if o.code != 1 || o.stdout.kept.Len() > 0 || !strings.HasPrefix(said, startFailed) {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(said, startFailed))
}

// Isolation describes in one sentence what keeps commands from doing harm; "" if no commands are offered.
func (t *Tools) Isolation() string {
	switch {
	case !t.runsCommands():
		return ""
	case t.sandbox == nil:
		return "commands run as you and can do whatever you can: " + t.why
	case t.sandbox.network:
		return "commands run in bubblewrap: they write to this directory only, see neither your home nor other processes, and use the network"
	}
	return "commands run in bubblewrap: they write to this directory only, see neither your home nor other processes, and have no network"
}
