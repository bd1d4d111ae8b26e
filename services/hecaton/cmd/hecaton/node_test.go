package main

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// peek is what a command looks for in the process that started it: the token in its environment and command line, a way into its
// memory and its open files.
const peek = `{ cat /proc/$PPID/environ; env; } | tr '\0' '\n'; tr '\0' ' ' </proc/$PPID/cmdline; echo
if ( : </proc/$PPID/mem ); then echo "the memory is open"; fi
if cat /proc/$PPID/maps; then echo "the memory is known"; fi
if ls -l /proc/$PPID/fd/; then echo "the files are known"; fi
echo over`

// The token of a node is kept from its commands without any sandbox, whichever way it came, and serves the node nevertheless.
func TestANodesTokenIsKeptFromItsCommands(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	key := config.Secret(strings.Repeat("k", 40))
	c, err := embedded.Start(t.Context(), embedded.Options{Auth: auth.Config{Mode: auth.JWT, Secret: key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	token, err := auth.Mint(key, auth.Claims{User: "ana", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	server := "http://" + c.Gateways[0].HTTP
	for name, given := range map[string]struct{ args, environ []string }{
		"environment":       {environ: []string{"HECATON_TOKEN=" + token}},
		"flag":              {args: []string{"--token", token}},
		"flag, in one word": {args: []string{"-token=" + token}},
		"file":              {environ: []string{"HECATON_TOKEN_FILE=" + file}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			id := strings.ReplaceAll(name, ", in one word", "2")
			node := program(ctx, t, append([]string{
				"node", "--user", "ana", "--node-id", id, "--server", server, "--dir", t.TempDir(), "--allow-commands", "--sandbox", "off",
			}, given.args...)...)
			node.Env = append(node.Env, given.environ...)
			var stderr strings.Builder
			node.Stderr = &stderr
			stdout, err := node.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := node.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stdout)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "commands run as you") {
			}
			call := program(ctx, t, "call", "--user", "ana", "--node", id, "--server", server, "run_command", "command="+peek)
			call.Env = append(call.Env, "HECATON_TOKEN="+token)
			out, err := call.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "over") {
				t.Errorf("%v: %s; the node says %s", err, out, &stderr)
			}
			for _, found := range []string{token, "the memory is open", "the memory is known", "the files are known"} {
				if strings.Contains(string(out), found) {
					t.Errorf("a command finds %q: %s", found, out)
				}
			}
			if err := node.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := node.Wait(); err != nil {
				t.Errorf("%v: %s", err, &stderr)
			}
		})
	}
}
