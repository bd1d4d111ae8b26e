package cli_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

// free makes a cluster take free ports, so that tests do not meet.
var free = []string{"up", "--http-port", "0", "--grpc-port", "0", "--admin-port", "0"}

func up(t testing.TB, environ []string, flags ...string) *program {
	t.Helper()
	p := start(t, environ, append(append([]string(nil), free...), flags...)...)
	p.says("Ctrl-C stops it.")
	return p
}

func TestUp(t *testing.T) {
	t.Parallel()
	p := up(t, nil, "--gateways", "2")
	if !p.has("2 gateways, trusted mode", "node-registry", "agent-orchestrator", "NATS                 in this process", "Redis                in this process") {
		t.Errorf("it says %s", &p.out)
	}
	var addrs []string
	for _, row := range []string{"gateway 0", "gateway 1"} {
		addr := p.find(row + ` +http://(127\.0\.0\.1:\d+) `)
		resp, err := http.Get("http://" + addr + "/health")
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", row, resp.Status)
		}
		addrs = append(addrs, addr, p.find(row+` .* gRPC (\S+)`), p.find(row+` .* admin http://(\S+)`))
	}
	if code := p.stop(); code != 0 || !p.has(`Stopping (received the signal "interrupt")`) {
		t.Errorf("it ends with %d: %s", code, &p.err)
	}
	for _, addr := range addrs {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			t.Errorf("somebody still listens on %s", addr)
		}
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	p := up(t, nil, "--gateways", "2", "--demo")
	for _, text := range []string{
		"A tool call across two pods", "demo-desk of user demo: read_file, write_file, list_directory in ",
		"is held by   gateway 0", "was called   through gateway 1", "list_directory in ", "    | hello.txt (44 bytes)", "Try it:", "curl '",
		"data                 ", "(temporary: a demo keeps nothing)", "model                offline",
		"A run of an agent", "the goal     read the file hello.txt", "is given     through gateway 1", "→ read_file {\"path\":\"hello.txt\"}",
		"? read_file wants to run on demo-desk, with\n  | {\n  |   \"path\": \"hello.txt\"\n  | }\n", "there is no terminal to ask at: approved",
		"← read_file\n  | An agent can read this through any gateway.\n", "The run ended with \"stop\"", "hecaton chat --server http://",
	} {
		if !p.has(text) {
			t.Errorf("it does not say %q: %s", text, &p.out)
		}
	}
	dir := p.find(`list_directory in (\S+hecaton-demo-\S+)`)
	if _, err := os.Stat(filepath.Join(dir, "hello.txt")); err != nil {
		t.Error(err)
	}
	// What it tells people to try works, through the gateway that does not hold the node.
	url := p.find(`curl '(http\S+)'`)
	resp, err := http.Post(url, "application/json", strings.NewReader(p.find(`-d '(.*)'`)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", url, resp.Status)
	}
	again := strings.Fields(p.find(`hecaton (chat .*)`))
	if code, out, err := do(t, append(again, "-m", "read the file hello.txt")...); code != 0 || !strings.Contains(out, "through any gateway") {
		t.Errorf("%q: %d %s%s", again, code, out, err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, &p.err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the demo's directory is left: %v", err)
	}
}

// At a terminal the person decides, and is heard.
func TestDemoAsks(t *testing.T) {
	t.Parallel()
	for answer, says := range map[string]string{
		"y\n":            "  | An agent can read this through any gateway.\n",
		"n no, thanks\n": "← rejected read_file",
	} {
		in, typed := io.Pipe()
		p := startEnv(t, cli.Env{Stdin: in, Interactive: true, Args: append(append([]string(nil), free...), "--demo")})
		p.says("after 10s the demo approves this one call by itself", "[y]es, [n]o")
		if _, err := io.WriteString(typed, answer); err != nil {
			t.Fatal(err)
		}
		p.says("Ctrl-C stops it.")
		if !p.has(says, "The run ended with \"stop\"") || p.has("approved, since") {
			t.Errorf("%q: it says %s", answer, &p.out)
		}
		if err := typed.Close(); err != nil {
			t.Error(err)
		}
	}
}

// With an endpoint of the user's, the same run is that model's.
func TestDemoOnRealModel(t *testing.T) {
	t.Parallel()
	model := modeltest.New(t)
	model.Script(modeltest.Call("read_file", map[string]string{"path": "hello.txt"}), modeltest.Say("It is ", "a greeting."))
	p := up(t, []string{"OPENAI_BASE_URL=" + model.URL(), "OPENAI_API_KEY=a-key-of-mine", "OPENAI_MODEL=m-1"}, "--gateways", "2", "--demo")
	if !p.has("model                m-1 at 127.0.0.1", "← read_file\n  | An agent can read", "It is a greeting.\n", `The run ended with "stop"`) || p.has("a-key-of-mine") {
		t.Errorf("it says %s", &p.out)
	}
	requests := model.Requests()
	if len(requests) != 2 || requests[0].Key() != "a-key-of-mine" || requests[0].Model != "m-1" {
		t.Errorf("%d requests: %+v", len(requests), requests)
	}
}

// A model that cannot be used is no reason not to serve.
func TestDemoWithoutModel(t *testing.T) {
	t.Parallel()
	unnamed := up(t, []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, "--demo")
	if !unnamed.has("requests must name a model", "The run failed: ") {
		t.Errorf("it says %s", &unnamed.out)
	}
	model := modeltest.New(t)
	model.Otherwise(modeltest.Status(http.StatusUnauthorized, nil, `{"error":{"message":"no"}}`))
	refused := up(t, []string{"OPENAI_BASE_URL=" + model.URL(), "OPENAI_MODEL=m-1"}, "--demo")
	if !refused.has("\n! ", `The run ended with "error"`, "Go on with it") {
		t.Errorf("it says %s", &refused.out)
	}
}

// The data of a cluster is in the default directory. One cluster can use it; the next one uses another directory and says
// so.
func TestData(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first := up(t, []string{"HOME=" + home}, "--orchestrators", "2")
	dir := filepath.Join(home, ".local", "share", "hecaton")
	if !first.has("data                 "+dir+"\n", "orchestrator 0", "orchestrator 1") {
		t.Errorf("it says %s", &first.out)
	}
	second := up(t, []string{"HOME=" + home})
	if !second.has("(temporary: data directory " + dir + ": another cluster uses it)") {
		t.Errorf("it says %s", &second.out)
	}
	if code, _, err := do(t, append(free, "--data-dir", dir)...); code != 1 || !strings.Contains(err, "another cluster uses it") {
		t.Errorf("%d %s", code, err)
	}
	xdg := t.TempDir()
	third := up(t, []string{"HOME=" + home, "XDG_DATA_HOME=" + xdg})
	if _, err := os.Stat(filepath.Join(xdg, "hecaton", "hecaton.db")); err != nil {
		t.Errorf("%v: %s", err, &third.out)
	}
	own := filepath.Join(t.TempDir(), "own")
	if fourth := up(t, nil, "--demo", "--data-dir", own); !fourth.has("data                 " + own + "\n") {
		t.Errorf("it says %s", &fourth.out)
	}
	if code := first.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, &first.err)
	}
	again := up(t, []string{"HOME=" + home})
	if !again.has("data                 " + dir + "\n") {
		t.Errorf("it says %s", &again.out)
	}
}

func TestDemoOfAnotherKind(t *testing.T) {
	t.Parallel()
	t.Run("one gateway, own directory", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := up(t, nil, "--demo", "--dir", dir)
		if !p.has("on the pod that holds the node", "mine.txt (1 bytes)") {
			t.Errorf("it says %s", &p.out)
		}
		if code := p.stop(); code != 0 {
			t.Errorf("it ends with %d: %s", code, &p.err)
		}
		if _, err := os.Stat(filepath.Join(dir, "mine.txt")); err != nil {
			t.Errorf("the user's file is gone: %v", err)
		}
	})
	t.Run("users show a token", func(t *testing.T) {
		t.Parallel()
		p := up(t, []string{"JWT_SECRET=0123456789abcdef0123456789abcdef", "AUTH_MODE=jwt"},
			"--demo", "--gateways", "2")
		if !p.has("users show a JWT", "A tool call across two pods", "hello.txt", "Bearer $TOKEN", `The run ended with "stop"`, "HECATON_TOKEN has a JWT") {
			t.Errorf("it says %s", &p.out)
		}
		if code := p.stop(); code != 0 {
			t.Errorf("it ends with %d: %s", code, &p.err)
		}
	})
	t.Run("no key to sign with", func(t *testing.T) {
		t.Parallel()
		key := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(key, []byte(publicKey), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, err := do(t, append(free, "--demo", "--auth-mode", "jwt", "--jwt-public-key", key, "--jwt-issuer", "i", "--jwt-audience", "a")...)
		if code != 1 || !strings.Contains(err, "JWT_SECRET") {
			t.Errorf("%d %s", code, err)
		}
	})
	t.Run("no directory", func(t *testing.T) {
		t.Parallel()
		if code, _, err := do(t, append(free, "--demo", "--dir", "/does/not/exist")...); code != 1 || !strings.Contains(err, "/does/not/exist") {
			t.Errorf("%d %s", code, err)
		}
	})
}

// publicKey is an Ed25519 key whose other half nobody kept.
const publicKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`

// A port in use is named, with the flag that changes it.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	port := testkit.TakenPort(t)
	for flag, role := range map[string]string{"--http-port": "HTTP", "--grpc-port": "gRPC", "--admin-port": "admin"} {
		args := []string{"up", "--gateways", "2"}
		for _, other := range []string{"--http-port", "--grpc-port", "--admin-port"} {
			if other == flag {
				args = append(args, flag, strconv.Itoa(port-1))
			} else {
				args = append(args, other, "0")
			}
		}
		code, _, said := do(t, args...)
		want := "port " + strconv.Itoa(port) + ", the " + role + " port of gateway 1, is in use"
		if code != 1 || !strings.Contains(said, want) || !strings.Contains(said, flag) {
			t.Errorf("%s: %d %s, want %q", flag, code, said, want)
		}
	}
}

// If its default ports are taken a registry uses others; only the ports of gateways were asked for by the user.
func TestUsualPorts(t *testing.T) {
	t.Parallel()
	grpc := testkit.FreePort()
	p := start(t, nil, "up", "--http-port", "0", "--admin-port", "0", "--grpc-port", strconv.Itoa(grpc))
	p.says("Ctrl-C stops it.")
	if got := p.find(`gateway 0 .* gRPC (\S+)`); got != "127.0.0.1:"+strconv.Itoa(grpc) {
		t.Errorf("the gateway serves on %s", got)
	}
	second := start(t, nil, "up", "--http-port", "0", "--admin-port", "0", "--grpc-port", strconv.Itoa(testkit.FreePort()))
	second.says("Ctrl-C stops it.")
	if a, b := p.find(`node-registry .* gRPC (\S+)`), second.find(`node-registry .* gRPC (\S+)`); a == b {
		t.Errorf("two registries on %s", a)
	}
}

// A cluster that listens for other machines says so, and requires authentication.
func TestOtherHost(t *testing.T) {
	t.Parallel()
	secured := []string{"--auth-mode", "jwt", "--jwt-secret", "0123456789abcdef0123456789abcdef"}
	for name, flags := range map[string][]string{"insecure": {"--insecure"}, "secured": secured} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := up(t, nil, append(flags, "--host", "0.0.0.0", "--gateways", "2", "--demo")...)
			if !p.has("The gateways listen on 0.0.0.0", "A tool call across two pods") {
				t.Errorf("it says %s", &p.out)
			}
			if code := p.stop(); code != 0 {
				t.Errorf("it ends with %d: %s", code, &p.err)
			}
		})
	}
}

func TestServersOfOthers(t *testing.T) {
	t.Parallel()
	redis, nats := testkit.OwnRedis(t), testkit.OwnNATS(t)
	p := up(t, []string{"REDIS_URL=" + redis.URL(), "NATS_URL=" + nats.URL()}, "--gateways", "2", "--demo")
	if !p.has("NATS                 "+nats.Addr(), "Redis                "+redis.Addr(), "A tool call across two pods") {
		t.Errorf("it says %s", &p.out)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, &p.err)
	}
	if code, _, err := do(t, append(free, "--nats-url", "nats://user:secret@127.0.0.1:1", "--redis-url", "not a url")...); code != 1 || strings.Contains(err, "secret") {
		t.Errorf("%d %s", code, err)
	}
}

// Stopped while it starts, it ends in good order.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, nil, append(free, "--gateways", "2", "--demo")...)
	if code := p.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, &p.err)
	}
}
