package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// buffer is an output that is read while it is written.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// program is one command that runs.
type program struct {
	t         testing.TB
	out, err  buffer
	interrupt context.CancelCauseFunc
	signals   chan os.Signal // what a command hears that takes signals for itself
	ended     chan struct{}
	code      int // static once ended is closed
}

// start runs a command until it ends, or until the test does, as Ctrl-C ends it.
func start(t testing.TB, environ []string, args ...string) *program {
	t.Helper()
	return startEnv(t, cli.Env{Args: args, Environ: environ})
}

// startEnv is start with an input. At a terminal the program gets the signals that press and stop send.
func startEnv(t testing.TB, e cli.Env) *program {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	p := &program{t: t, interrupt: cancel, signals: make(chan os.Signal), ended: make(chan struct{})}
	e.Stdout, e.Stderr, e.Version = &p.out, &p.err, "v1.2.3"
	if e.Interactive {
		e.Signals = func() (<-chan os.Signal, func()) { return p.signals, func() {} }
	}
	go func() {
		defer close(p.ended)
		p.code = cli.Run(ctx, e)
	}()
	t.Cleanup(func() { p.stop() })
	return p
}

// stop interrupts the command and returns its exit code.
func (p *program) stop() int {
	p.interrupt(errors.New("received the signal \"interrupt\""))
	p.signal(syscall.SIGTERM)
	return p.wait()
}

// signal is heard by a command at a terminal, once.
func (p *program) signal(s os.Signal) {
	go func() {
		select {
		case p.signals <- s:
		case <-p.ended:
		}
	}()
}

// press is Ctrl-C at a terminal.
func (p *program) press() { p.signal(os.Interrupt) }

func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.t.Fatalf("the command does not end: %s%s", &p.out, &p.err)
	}
	return p.code
}

// says waits until standard output holds all of these.
func (p *program) says(texts ...string) {
	p.t.Helper()
	testkit.Eventually(p.t, 30*time.Second, func() bool {
		select {
		case <-p.ended:
			if !p.has(texts...) {
				p.t.Fatalf("it ended with %d: %s%s", p.code, &p.out, &p.err)
			}
		default:
		}
		return p.has(texts...)
	}, "the output has %q", texts)
}

func (p *program) has(texts ...string) bool {
	out := p.out.String()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			return false
		}
	}
	return true
}

// find returns the first group of the first match in the output.
func (p *program) find(pattern string) string {
	p.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(p.out.String())
	if m == nil {
		p.t.Fatalf("nothing like %s in %s", pattern, &p.out)
	}
	return m[1]
}

// do runs a command to its end.
func do(t testing.TB, args ...string) (code int, out, err string) {
	t.Helper()
	p := start(t, nil, args...)
	code = p.wait()
	return code, p.out.String(), p.err.String()
}

// cluster starts two gateways that stop with the test.
func cluster(t testing.TB) *embedded.Cluster {
	t.Helper()
	c, err := embedded.Start(t.Context(), embedded.Options{Gateways: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	all := []string{"up", "node", "call", "nodes", "watch", "drain", "gateway", "node-registry", "agent-orchestrator", "version"}
	for _, args := range [][]string{nil, {"help"}, {"--help"}, {"-h"}} {
		code, out, err := do(t, args...)
		if code != 0 || err != "" {
			t.Errorf("%q: %d %s", args, code, err)
		}
		for _, name := range all {
			if !strings.Contains(out, "  "+name+" ") {
				t.Errorf("%q does not list %s", args, name)
			}
		}
	}
	for _, name := range all {
		code, out, err := do(t, name, "--help")
		if code != 0 || err != "" || !strings.Contains(out, "Usage: hecaton "+name) {
			t.Errorf("%s --help: %d %s%s", name, code, out, err)
		}
		if _, again, _ := do(t, "help", name); again != out {
			t.Errorf("help %s differs from %s --help", name, name)
		}
	}
	if code, out, _ := do(t, "version"); code != 0 || !strings.HasPrefix(out, "hecaton v1.2.3 (go1.") {
		t.Errorf("version: %d %s", code, out)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, says string }{
		{"upp", `no command "upp"`},
		{"up --gateway 2", "--gateways"},
		{"up extra", `argument "extra" is not expected`},
		{"up --gateways 0", "at least 1"},
		{"up --http-port 70000", "--http-port 70000"},
		{"up --http-port 65535 --gateways 2", "--http-port 65535"},
		{"up --host 0.0.0.0", "trusted authenticates nobody"},
		{"up --host 0.0.0.0 --insecure --mcp-stdio", "--mcp-stdio would let anybody run programs"},
		{"up --origin localhost:3000", `"localhost:3000" is not an origin`},
		{"up --allow-host http://box.local", `"http://box.local" is no host`},
		{"drain --admin 127.0.0.1:1 --token", "--token needs a value"},
		{"up --auth-mode jwt", "JWT_SECRET"},
		{"up --auth-mode jwt --jwt-jwks-url https://x", "JWT_JWKS_URL needs JWT_AUDIENCE: set it"},
		{"gateway --auth-mode jwt --open-services --jwt-jwks-url https://x", "JWT_JWKS_URL needs JWT_ISSUER: set it"},
		{"call", "--user (HECATON_USER) is required"},
		{"call --user ana", "which tool"},
		{"call --user ana x y", `"y" must be key=value`},
		{"call --user ana x {", "is not JSON"},
		{"call --user ana --type phone x", "--type"},
		{"call --user ana --timeout 0s x", "--timeout"},
		{"call --user ana --server localhost x", "must be a URL"},
		{"nodes", "--user"},
		{"watch", "--user"},
		{"drain", "--admin"},
		{"node", "--user"},
		{"node --user ana --dir /does/not/exist", "/does/not/exist"},
		{"node --user ana --tools fly", `no tool "fly"`},
		{"node --user ana --server ftp://x", "ftp"},
		{"node --user ana --tools run_command", "takes --allow-commands"},
		{"node --user ana --confirm some", `"some"`},
		{"node --user ana --allow-commands --sandbox maybe", `"maybe"`},
		{"node --user ana --dir testdata --token-file testdata/token", "can read; keep it elsewhere"},
		{"gateway", "the gRPC port asks for no credentials"},
		{"gateway --auth-mode jwt --open-services", "JWT"},
		{"node-registry --lease x", "--lease"},
		{"node-registry", "the gRPC port asks for no credentials"},
		{"agent-orchestrator --database-url sqlite:///x --blob-url mem:// --secret-keys x", "the gRPC port asks for no credentials"},
		{"agent-orchestrator", "--database-url (DATABASE_URL) is required"},
		{"agent-orchestrator --database-url sqlite:///x --blob-url mem:// --secret-keys x --stop-timeout 0s", "stop-timeout"},
		{"up --orchestrators 0", "--orchestrators must be at least 1"},
		{"up --llm gpt", "--llm"},
		{"up --llm openai", "OPENAI_BASE_URL"},
		{"chat", "--user"},
		{"version now", "not expected"},
	} {
		code, _, err := do(t, strings.Fields(tt.line)...)
		if code != 2 || !strings.Contains(err, tt.says) {
			t.Errorf("%s: %d %s, want 2 and %q", tt.line, code, err, tt.says)
		}
	}
}
