//go:build linux

package desktop

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sandboxed returns tools whose commands run in bubblewrap. If that does not work here the test is skipped, or fails under
// TEST_REQUIRE_REAL=1.
func sandboxed(t *testing.T, o SandboxOptions) (*Tools, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := openAs(t, dir, Options{Commands: true, Sandbox: o})
	if tools.sandbox != nil {
		return tools, dir
	}
	if os.Getenv("TEST_REQUIRE_REAL") == "1" {
		t.Fatalf("%s, and TEST_REQUIRE_REAL=1 asks for a sandbox", tools.why)
	}
	t.Skip(tools.why)
	return nil, ""
}

// stdout runs a line that has to end with 0.
func stdout(t *testing.T, tools *Tools, line string) string {
	t.Helper()
	r := good(t, tools.runCommand, fmt.Sprintf(`{"command":%q}`, line))
	if r.Fields["exit_code"] != 0 {
		t.Errorf("%s: %q", line, text(r))
	}
	return r.Fields["stdout"].(string)
}

func TestASandboxHoldsCommands(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("HECATON_TOKEN", "sesame")
	put(t, filepath.Join(os.Getenv("HOME"), ".ssh", "key"), "sesame")
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, outside, "sesame")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	tools, dir := sandboxed(t, SandboxOptions{})
	put(t, filepath.Join(dir, "sub", "a"), "inside")

	if got := stdout(t, tools, "cat sub/a; pwd; echo new >sub/b; cat sub/b"); got != "inside"+dir+"\nnew\n" || contentOf(t, filepath.Join(dir, "sub", "b")) != "new\n" {
		t.Errorf("%q", got)
	}
	if got := stdout(t, tools, `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline "$HOME"/.ssh/key `+outside+` 2>&1; ls -d /proc/[0-9]*; env; true`); strings.Contains(got, "sesame") ||
		strings.Contains(got, fmt.Sprintf("/proc/%d\n", os.Getpid())) {
		t.Errorf("a command sees %s", got)
	}
	for _, line := range []string{
		"echo x >" + outside, "echo x >/etc/x", "echo x >/usr/x", "echo x >/x", "ls /root/ | grep .", "ls /home | grep .", "ls /run | grep .",
		"ls /tmp | grep -v '" + strings.Split(dir, "/")[2] + "'", "ln " + outside + " x", "kill -0 " + fmt.Sprint(os.Getpid()),
		fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", listener.Addr().(*net.TCPAddr).Port), "mount -t tmpfs x /usr", "mknod d b 8 0", "cat /dev/mem",
	} {
		if r := good(t, tools.runCommand, fmt.Sprintf(`{"command":"/bin/bash","args":["-c",%q]}`, line)); r.Fields["exit_code"] == 0 {
			t.Errorf("%s: %q", line, text(r))
		}
	}
	if got := contentOf(t, outside); got != "sesame" {
		t.Errorf("outside is %q now", got)
	}
	if r := use(t, tools.runCommand, `{"command":"exit 7"}`); r.Fields["exit_code"] != 7 {
		t.Errorf("%v", r.Fields)
	}
	bad(t, tools.runCommand, `{"command":"no-such-program","args":[]}`, `"no-such-program" cannot be run: no-such-program: No such file`)
	if said := tools.Isolation(); !strings.Contains(said, "bubblewrap") || !strings.Contains(said, "no network") {
		t.Error(said)
	}
}

func TestWhatASandboxIsGiven(t *testing.T) {
	t.Parallel()
	extra := t.TempDir()
	put(t, filepath.Join(extra, "tool"), "extra")
	put(t, filepath.Join(extra, "token"), "sesame")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	tools, _ := sandboxed(t, SandboxOptions{Network: true, Read: []string{extra}, Hide: []string{filepath.Join(extra, "token")}})
	if got := stdout(t, tools, "cat "+extra+"/tool; cat "+extra+"/token || true"); got != "extra" {
		t.Errorf("%q", got)
	}
	if r := good(t, tools.runCommand, fmt.Sprintf(`{"command":"echo x >%s/new"}`, extra)); r.Fields["exit_code"] == 0 {
		t.Error("what may be read can be written")
	}
	line := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", listener.Addr().(*net.TCPAddr).Port)
	if r := good(t, tools.runCommand, fmt.Sprintf(`{"command":"/bin/bash","args":["-c",%q]}`, line)); r.Fields["exit_code"] != 0 {
		t.Errorf("no network: %q", text(r))
	}
	if said := tools.Isolation(); !strings.Contains(said, "use the network") {
		t.Error(said)
	}
}

// A directory by a name that is a link is there by both names.
func TestASandboxOfALink(t *testing.T) {
	t.Parallel()
	_, dir := sandboxed(t, SandboxOptions{})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	tools := openAs(t, link, Options{Commands: true, Sandbox: SandboxOptions{Mode: SandboxRequire}})
	if got := stdout(t, tools, "pwd; echo x >"+dir+"/a; cat "+link+"/a"); got != link+"\nx\n" {
		t.Errorf("%q", got)
	}
}

// The end of a command, by itself or by its timeout, is the end of everything that it started.
func TestNothingOutlivesASandbox(t *testing.T) {
	t.Parallel()
	tools, _ := sandboxed(t, SandboxOptions{})
	name := fmt.Sprintf("10%d", os.Getpid()) // of no other process here
	for _, then := range []string{"true", "sleep 100"} {
		r := use(t, tools.runCommand, fmt.Sprintf(`{"command":"setsid sleep %s & %s","timeout_ms":1500}`, name, then))
		if r.Fields["timed_out"] != (then != "true") {
			t.Errorf("%s: %v", then, r.Fields)
		}
		if out, err := exec.Command("pgrep", "-f", "^sleep "+name).CombinedOutput(); err == nil {
			t.Errorf("%s: %s goes on", then, out)
		}
	}
}

func TestSandboxModes(t *testing.T) {
	t.Parallel()
	tools := openAs(t, t.TempDir(), Options{Commands: true, Sandbox: SandboxOptions{Mode: SandboxOff}})
	if said := tools.Isolation(); tools.sandbox != nil || said != "commands run as you and can do whatever you can: the sandbox is off" {
		t.Error(said)
	}
	for _, o := range []SandboxOptions{{Mode: "maybe"}, {Mode: SandboxRequire, Read: []string{"/does/not/exist"}}} {
		if _, err := Open(t.TempDir(), Options{Commands: true, Sandbox: o}); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := Open("/", Options{Commands: true, Sandbox: SandboxOptions{Mode: SandboxRequire}}); err == nil {
		t.Error("a sandbox of everything is none")
	}
}

// A command without a sandbox cannot look into the memory of a process that has closed it, not even as root.
func TestCommandsCannotTrace(t *testing.T) {
	t.Parallel()
	tools, _ := open(t)
	status := stdout(t, tools, "cat /proc/self/status")
	for _, set := range []string{"CapInh", "CapPrm", "CapEff"} {
		_, rest, _ := strings.Cut(status, set+":")
		line, _, _ := strings.Cut(rest, "\n")
		caps, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
		if err != nil {
			t.Fatalf("%s in %q: %v", set, status, err)
		}
		for name, bit := range map[string]uint{"cap_sys_ptrace": 19, "cap_sys_admin": 21, "cap_sys_rawio": 17, "cap_sys_module": 16} {
			if caps>>bit&1 != 0 {
				t.Errorf("%s has %s", set, name)
			}
		}
	}
}
