package browser

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// flags keep Chromium quiet, alone and the same on every machine.
var flags = []string{
	"--headless=new",
	"--no-sandbox", // CI runs as root, where the sandbox refuses to start
	"--disable-gpu",
	"--disable-quic",
	"--disable-sync",
	"--disable-background-networking",
	"--disable-component-update",
	"--no-first-run",
	"--no-default-browser-check",
	"--password-store=basic",
	"--mute-audio",
	"--window-size=1280,800",
	"--remote-debugging-pipe",
}

// process is a running Chromium with a profile of its own.
type process struct {
	*devtools
	command *exec.Cmd
	profile string
	stderr  *tail
}

// find returns Chromium's path, or skips the test: or fails it, where a skip would hide that nothing was tested.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("TEST_REQUIRE_REAL") == "1" {
		t.Fatal("there is no chromium on this machine, and TEST_REQUIRE_REAL=1")
	}
	t.Skip("there is no chromium on this machine")
	return ""
}

// launch starts Chromium and ends it with the test. The extension is an unpacked folder; empty means none.
func launch(t testing.TB, extension string) *process {
	t.Helper()
	path := find(t)
	// Not t.TempDir: helper processes may write a moment longer than the browser lives, and stop can wait for them.
	profile, err := os.MkdirTemp("", "hecaton-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"--user-data-dir=" + profile}, flags...)
	if extension != "" {
		arguments = append(arguments, "--load-extension="+extension, "--disable-extensions-except="+extension)
	}
	p := &process{command: exec.Command(path, append(arguments, "about:blank")...), profile: profile, stderr: &tail{}}
	if err := p.start(); err != nil {
		_ = os.RemoveAll(profile)
		t.Fatalf("start chromium: %v", err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("stop chromium: %v", err)
		}
		if t.Failed() {
			t.Logf("chromium said last:\n%s", p.stderr)
		}
	})
	return p
}

// start runs the process with the DevTools pipe on its descriptors 3 (commands) and 4 (answers).
func (p *process) start() error {
	commandsRead, commandsWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	answersRead, answersWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, commandsRead.Close(), commandsWrite.Close())
	}
	p.command.ExtraFiles = []*os.File{commandsRead, answersWrite}
	p.command.Stderr = p.stderr
	p.command.WaitDelay = 5 * time.Second // a helper that outlives the browser may hold stderr open
	// A group of its own: stop can then end the helper processes, too.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = p.command.Start()
	_, _ = commandsRead.Close(), answersWrite.Close()
	if err != nil {
		return errors.Join(err, commandsWrite.Close(), answersRead.Close())
	}
	p.devtools = newDevtools(commandsWrite, answersRead)
	return nil
}

// stop ends the browser and everything that it started, and removes its profile.
func (p *process) stop() error {
	if err := syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	_ = p.command.Wait() // killed: that is no news
	p.devtools.close()
	return removeProfile(p.profile)
}

// removeProfile removes the profile, again and again while a dying helper still writes to it.
func removeProfile(profile string) error {
	var err error
	for range 50 {
		if err = os.RemoveAll(profile); err == nil {
			return nil
		}
		<-time.After(100 * time.Millisecond)
	}
	return fmt.Errorf("remove %s: %w", filepath.Base(profile), err)
}

// tail keeps the last few kilobytes written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

const tailBytes = 4 << 10

// Write never fails.
func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if excess := len(w.text) - tailBytes; excess > 0 {
		w.text = append(w.text[:0], w.text[excess:]...)
	}
	return len(p), nil
}

// String returns what was kept.
func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
