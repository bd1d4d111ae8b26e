package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// asProgram makes this test binary the program.
const asProgram = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testkit.Main(m)
}

// program is a run of the program with these arguments.
func program(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// The program as a process: it shows the demo, answers, and on SIGTERM ends with 0 and leaves nothing.
func TestProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM on Windows")
	}
	temp := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := program(ctx, t, "up", "--gateways", "2", "--demo", "--http-port", "0", "--grpc-port", "0", "--admin-port", "0")
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "Ctrl-C stops it") {
			break
		}
	}
	for _, text := range []string{"Hecaton is up: 2 gateways", "A tool call across two pods", "gateway 1, by POST", "| hello.txt", "claude mcp add --transport http hecaton 'http://127.0.0.1:", "A run of an agent", "| An agent can read this", `The run ended with "stop"`} {
		if !strings.Contains(said.String(), text) {
			t.Errorf("it does not say %q: %s%s", text, &said, &stderr)
		}
	}
	addrs := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(said.String(), -1)
	if len(addrs) < 10 {
		t.Fatalf("it names %q", addrs)
	}
	gateway := regexp.MustCompile(`gateway 1 .* gRPC (\S+)`).FindStringSubmatch(said.String())
	if gateway == nil {
		t.Fatalf("it names no second gateway: %s", &said)
	}
	out, err := program(ctx, t, "call", "--user", "demo", "--grpc", gateway[1], "read_file", "path=hello.txt").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "through any gateway") {
		t.Errorf("%v: %s", err, out)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stdout)
	if err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v: %s%s", err, rest, &stderr)
	}
	if !strings.Contains(string(rest), `Stopping (received the signal "terminated")`) {
		t.Errorf("it says %s", rest)
	}
	for _, addr := range addrs {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			t.Errorf("somebody still listens on %s", addr)
		}
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// What the shell sees.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"version": 0, "help": 0, "oops": 2, "call": 2, "call --user ana --grpc 127.0.0.1:1 x": 3,
	} {
		cmd := program(t.Context(), t, strings.Fields(line)...)
		_ = cmd.Run() // the code says it all
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("hecaton %s exits with %d, want %d", line, got, want)
		}
	}
}
