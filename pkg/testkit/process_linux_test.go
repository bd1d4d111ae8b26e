package testkit

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A test binary that is killed takes its redis-server along.
func TestKilledBinaryLeavesNothing(t *testing.T) {
	const role = "TESTKIT_TO_BE_KILLED"
	if os.Getenv(role) != "" {
		os.Stdout.WriteString("\naddr " + OwnRedis(t).Addr() + "\n")
		select {} // until SIGKILL
	}
	t.Parallel()
	available(t, redisKind.sources[0])

	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), role+"=1", "TEST_REQUIRE_REAL=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	for lines := bufio.NewScanner(out); addr == "" && lines.Scan(); {
		addr, _ = strings.CutPrefix(lines.Text(), "addr ")
		if addr == lines.Text() {
			addr = ""
		}
	}
	if conn, err := net.Dial("tcp", addr); err != nil {
		t.Errorf("the child's redis-server at %q: %v", addr, err)
	} else {
		_ = conn.Close()
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as asked
	Eventually(t, 5*time.Second, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, "redis-server at %s ends with its parent", addr)
}
