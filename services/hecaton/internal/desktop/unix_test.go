//go:build unix

package desktop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// putScript writes a program. No process may start meanwhile: it would inherit the file, open for writing, which keeps the
// kernel from executing it.
func putScript(t *testing.T, path, lines string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestScreenshotAnswer(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	shot := noise(t, 20, 10)
	put(t, filepath.Join(dir, "shot.png"), string(shot))
	putScript(t, filepath.Join(dir, "scrot"), fmt.Sprintf(`test "$DISPLAY" = :7 && cp '%s/shot.png' "$1"`, dir))
	tools.screen = machine("linux", map[string]string{"DISPLAY": ":7"})
	tools.screen.lookPath = func(name string) (string, error) {
		if name != "scrot" {
			return "", exec.ErrNotFound
		}
		return filepath.Join(dir, name), nil
	}
	r := good(t, tools.screenshot, `{}`)
	content, _ := r.Content[1].(node.ImageContent)
	if text(r) != "Screenshot of the desktop, 20 × 10 pixels" || !bytes.Equal(content.Data, shot) || content.MimeType != "image/png" ||
		!bytes.Equal(r.Screenshot, shot) || r.Fields["width"] != 20 || r.Fields["height"] != 10 {
		t.Errorf("%q %v", text(r), r.Fields)
	}
}

func TestAPipeIsNoFile(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	// None of these waits for the other end.
	bad(t, tools.readFile, `{"path":"pipe"}`, `"pipe": it is not a regular file but a device, pipe or socket`)
	bad(t, tools.writeFile, `{"path":"pipe","content":"x"}`, "it is not a regular file")
	bad(t, tools.writeFile, `{"path":"pipe","content":"x","append":true}`, "it is not a regular file")
	if r := good(t, tools.listDirectory, `{}`); text(r) != "pipe (other)\n" {
		t.Errorf("%q", text(r))
	}
}

// A hard link makes another's file one of the directory's, and no path tells: it is neither read nor written.
func TestAFileWithASecondNameIsNotTouched(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	outside := filepath.Join(t.TempDir(), "secret")
	put(t, outside, "secret")
	if err := os.Link(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("link", filepath.Join(dir, "way")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "way"} {
		for _, call := range []struct {
			tool node.Handler
			more string
		}{{tools.readFile, ``}, {tools.writeFile, `,"content":"x"`}, {tools.writeFile, `,"content":"x","append":true`}} {
			bad(t, call.tool, `{"path":"`+name+`"`+call.more+`}`, "it has 2 names (hard links), of which others may lie outside")
		}
	}
	if got := contentOf(t, outside); got != "secret" {
		t.Errorf("it is %q now", got)
	}
	if err := os.Remove(outside); err != nil {
		t.Fatal(err)
	}
	good(t, tools.readFile, `{"path":"link"}`) // its only name
}

func TestRunCommand(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "sub", "x"), "")
	putScript(t, filepath.Join(dir, "script"), `echo "$# $1"`)
	for _, c := range []struct {
		arguments, text, stdout, stderr string
		code                            int
	}{
		{`{"command":"echo a | tr a b"}`, "b\n", "b\n", "", 0},
		{`{"command":"echo a | tr a b","shell":true}`, "b\n", "b\n", "", 0},
		{`{"command":"echo","args":["a | tr a b","$HOME"]}`, "a | tr a b $HOME\n", "a | tr a b $HOME\n", "", 0},
		{`{"command":"echo","args":[]}`, "\n", "\n", "", 0},
		{`{"command":"true","shell":false}`, "", "", "", 0},
		{`{"command":"pwd; echo $PWD"}`, dir + "\n" + dir + "\n", dir + "\n" + dir + "\n", "", 0},
		{`{"command":"pwd","cwd":"sub"}`, dir + "/sub\n", dir + "/sub\n", "", 0},
		{fmt.Sprintf(`{"command":"pwd","cwd":%q}`, dir+"/sub"), dir + "/sub\n", dir + "/sub\n", "", 0},
		{`{"command":"./script","args":["one two"]}`, "1 one two\n", "1 one two\n", "", 0},
		{`{"command":"echo no >&2; exit 7"}`, "[stderr]\nno\n[exit code 7]", "", "no\n", 7},
		{`{"command":"kill -TERM $$"}`, "[exit code 143]", "", "", 143},
		{`{"command":"cat"}`, "", "", "", 0},
		{`{"command":"printf 'a\\377b'"}`, "a\uFFFDb", "a\uFFFDb", "", 0},
	} {
		r := good(t, tools.runCommand, c.arguments)
		if text(r) != c.text || r.Fields["stdout"] != c.stdout || r.Fields["stderr"] != c.stderr || r.Fields["exit_code"] != c.code ||
			r.Fields["truncated"] != false || r.Fields["timed_out"] != false {
			t.Errorf("%s: %q %v", c.arguments, text(r), r.Fields)
		}
	}
}

func TestRunCommandSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	put(t, filepath.Join(dir, "file"), "")
	refused(t, tools.runCommand, `{}`, "arguments.command is missing; give a line for the shell, or a program and its args")
	refused(t, tools.runCommand, `{"command":" "}`, "arguments.command is missing")
	refused(t, tools.runCommand, `{"command":["ls"]}`, "arguments.command must be a string, not array")
	refused(t, tools.runCommand, `{"command":"ls","args":"-l"}`, "arguments.args must be an array, not string")
	refused(t, tools.runCommand, `{"command":"ls","args":["-l"],"shell":true}`, "arguments.args and arguments.shell exclude each other")
	refused(t, tools.runCommand, `{"command":"ls","timeout_ms":0}`, "arguments.timeout_ms is 0, it must be from 1 to 3600000")
	refused(t, tools.runCommand, `{"command":"ls","timeout_ms":3600001}`, "from 1 to 3600000")
	bad(t, tools.runCommand, `{"command":"ls","cwd":"none"}`, `"none" does not exist`)
	bad(t, tools.runCommand, `{"command":"ls","cwd":"file"}`, `"file": it is not a directory; cwd is where the command starts`)
	bad(t, tools.runCommand, `{"command":"no-such-program","args":[]}`, `"no-such-program" cannot be run`)
	bad(t, tools.runCommand, `{"command":"./file","args":[]}`, "permission denied")
}

func TestRunCommandsEnvironmentHoldsNoSecrets(t *testing.T) {
	t.Setenv("HECATON_TOKEN", "secret")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("LANG", "C.UTF-8")
	tools, dir := open(t)
	env, _ := good(t, tools.runCommand, `{"command":"env","args":[]}`).Fields["stdout"].(string)
	if strings.Contains(env, "secret") || !strings.Contains(env, "LANG=C.UTF-8\n") || !strings.Contains(env, "PATH="+os.Getenv("PATH")+"\n") ||
		!strings.Contains(env, "PWD="+dir+"\n") {
		t.Errorf("%s", env)
	}
}

func TestRunCommandsOutputIsBounded(t *testing.T) {
	t.Parallel()
	tools, _ := open(t)
	r := good(t, tools.runCommand, `{"command":"head -c 30000000 /dev/zero; head -c 600000 /dev/zero >&2; echo end"}`)
	stdout, stderr := r.Fields["stdout"].(string), r.Fields["stderr"].(string)
	if len(stdout) != maxOutput || len(stderr) != maxOutput || r.Fields["truncated"] != true || r.Fields["exit_code"] != 0 {
		t.Errorf("%d, %d, %v", len(stdout), len(stderr), r.Fields["truncated"])
	}
	said := text(r)
	if !strings.Contains(said, fmt.Sprintf("[%d bytes of output were dropped; stdout and stderr hold 524288 bytes each]", 30000004+600000-2*maxOutput)) ||
		!strings.Contains(said, "bytes more in stdout and stderr]") {
		t.Errorf("%q", said[len(said)-300:])
	}
	// What JSON makes longest still fits into a frame.
	content, err1 := json.Marshal(r.Content)
	fields, err2 := json.Marshal(r.Fields)
	if err := errors.Join(err1, err2); err != nil || len(content)+len(fields) > node.MaxFrameBytes-1024 {
		t.Errorf("%d bytes, %v", len(content)+len(fields), err)
	}
}

func TestRunCommandsOutputIsNotCutInsideACharacter(t *testing.T) {
	t.Parallel()
	tools, _ := open(t)
	for before := range 3 { // bytes, so that each bound cuts at each place of a character once
		r := good(t, tools.runCommand, fmt.Sprintf(`{"command":"printf '%s'; yes € | tr -d '\\n' | head -c 900000"}`, "aa"[:before]))
		if stdout := r.Fields["stdout"].(string); strings.Contains(stdout, "\uFFFD") || len(stdout) > maxOutput || len(stdout) < maxOutput-3 {
			t.Errorf("%d bytes, ends with %q", len(stdout), stdout[len(stdout)-4:])
		}
		if said := text(r); strings.Contains(said, "\uFFFD") || !utf8.ValidString(said) {
			t.Error("the text is cut inside of a character")
		}
	}
}

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// family is a line that starts a child and a grandchild, notes their ids in files, and then does as told.
func family(then string) string {
	return `sh -c 'sleep 1000 & echo $! >grandchild.new; mv grandchild.new grandchild; wait' & echo $! >child.new; mv child.new child; ` +
		`while ! test -e grandchild; do sleep 0.01; done; touch ready; ` + then
}

// pids returns the ids that family noted.
func pids(t *testing.T, dir string) []int {
	t.Helper()
	var found []int
	for _, name := range []string{"child", "grandchild"} {
		pid, err := strconv.Atoi(strings.TrimSpace(contentOf(t, filepath.Join(dir, name))))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, pid)
	}
	return found
}

func allDead(t *testing.T, dir string) {
	t.Helper()
	for _, pid := range pids(t, dir) {
		testkit.Eventually(t, patience, func() bool { return !alive(pid) }, "process %d is dead", pid)
	}
}

func TestCancelKillsGrandchildren(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	arguments, err := json.Marshal(map[string]any{"command": family("wait")})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := tools.runCommand(ctx, node.Call{Arguments: arguments})
		ended <- err
	}()
	testkit.Eventually(t, patience, func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil }, "the family is ready")
	for _, pid := range pids(t, dir) {
		if !alive(pid) {
			t.Fatalf("process %d does not run", pid)
		}
	}
	cancel(&node.CancelledError{Reason: "test"})
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the command goes on")
	}
	allDead(t, dir)
}

func TestTimeoutKillsGrandchildrenAndKeepsTheOutput(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	arguments, err := json.Marshal(map[string]any{"command": family("echo so far; wait"), "timeout_ms": 4000})
	if err != nil {
		t.Fatal(err)
	}
	r := use(t, tools.runCommand, string(arguments))
	if !r.IsError || r.Fields["timed_out"] != true || r.Fields["stdout"] != "so far\n" || r.Fields["exit_code"] != 137 ||
		text(r) != "so far\n[killed after the timeout of 4s; timeout_ms can be longer]" {
		t.Errorf("%q %v", text(r), r.Fields)
	}
	allDead(t, dir)
}

func TestWhatACommandLeavesBehindIsKilled(t *testing.T) {
	t.Parallel()
	tools, dir := open(t)
	arguments, err := json.Marshal(map[string]any{"command": family("echo done")})
	if err != nil {
		t.Fatal(err)
	}
	// The grandchild holds stdout open, which must not keep the answer back until the timeout.
	r := good(t, tools.runCommand, string(arguments))
	if r.Fields["stdout"] != "done\n" || r.Fields["exit_code"] != 0 || r.Fields["timed_out"] != false {
		t.Errorf("%v", r.Fields)
	}
	allDead(t, dir)
}
