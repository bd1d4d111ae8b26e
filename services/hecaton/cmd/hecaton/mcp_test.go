package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// mcpCluster is one of two gateways with a device of ana's at the first.
func mcpCluster(t *testing.T) (c *embedded.Cluster, token string) {
	t.Helper()
	key := config.Secret(strings.Repeat("k", 40))
	c, err := embedded.Start(t.Context(), embedded.Options{Gateways: 2, Auth: auth.Config{Mode: auth.JWT, Secret: key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if token, err = auth.Mint(key, auth.Claims{User: "ana", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	n, err := node.New(node.Options{
		Server: "http://" + c.Gateways[0].HTTP, UserID: "ana", NodeID: "desk",
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Handle("say", func(_ context.Context, call node.Call) (node.Result, error) {
		return node.Text("said " + string(call.Arguments)), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c, token
}

// secretFile keeps a token from others.
func secretFile(t *testing.T, token string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// configured is one server of a client's configuration, as the client reads it.
type configured struct {
	Type, Command, URL string
	Args               []string
	Headers            map[string]string
}

func (c configured) transport(ctx context.Context) sdk.Transport {
	if c.Type == "http" {
		return &sdk.StreamableClientTransport{Endpoint: c.URL, HTTPClient: &http.Client{Transport: withHeaders(c.Headers)}}
	}
	cmd := exec.CommandContext(ctx, c.Command, c.Args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return &sdk.CommandTransport{Command: cmd}
}

type withHeaders map[string]string

func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// use connects as a client does, and calls a tool.
func use(t *testing.T, what string, c configured) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).Connect(ctx, c.transport(ctx), nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close()
	var names []string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !strings.Contains(strings.Join(names, " "), "say"); {
		names = nil
		for tool, err := range s.Tools(ctx, nil) {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			names = append(names, tool.Name)
		}
	}
	got, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "say", Arguments: map[string]any{"a": "é"}})
	if err != nil || got.IsError {
		t.Fatalf("%s: %v %+v of %v", what, err, got, names)
	}
	if said := got.Content[0].(*sdk.TextContent).Text; said != `said {"a":"é"}` {
		t.Errorf("%s: %s", what, said)
	}
}

// What install writes for each client, an SDK client reads and uses, on both pods, with a token that has the scopes it needs.
func TestInstalledConfigurationsWork(t *testing.T) {
	t.Parallel()
	c, full := mcpCluster(t)
	run := func(dir string, args ...string) string {
		t.Helper()
		cmd := program(t.Context(), t, args...)
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "HOME="+dir, "HECATON_USER=ana")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v %s", args, err, &stderr)
		}
		return string(out)
	}
	for i, g := range c.Gateways {
		server := "http://" + g.HTTP
		token := strings.TrimSpace(run(t.TempDir(), "token", "--server", server, "--token", full, "--scope", "tools:read,tools:call", "--node", "desk"))
		if !strings.HasPrefix(token, "hct_") {
			t.Fatalf("the token is %q", token)
		}
		secret := secretFile(t, token)
		for client, file := range map[string]string{
			"claude": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json",
		} {
			for _, how := range []string{"", "--http"} {
				dir := t.TempDir()
				args := []string{"mcp", "install", client, "--write", "--server", server, "--token-file", secret}
				if how != "" {
					args = append(args, how)
				}
				run(dir, args...)
				raw, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				if how == "" && strings.Contains(string(raw), token) {
					t.Errorf("%s has the token: %s", client, raw)
				}
				var got map[string]map[string]configured
				if err := json.Unmarshal(raw, &got); err != nil {
					t.Fatal(err)
				}
				key := "mcpServers"
				if client == "vscode" {
					key = "servers"
				}
				use(t, client+how+" on pod "+string(rune('0'+i)), got[key]["hecaton"])
			}
		}
	}
}

// Between client and gateway nothing but messages is written, also where there is nothing to reach or no right to it.
func TestOnlyMessagesOnStandardOutput(t *testing.T) {
	t.Parallel()
	c, _ := mcpCluster(t)
	server := "http://" + c.Gateways[1].HTTP
	for name, tt := range map[string]struct {
		token, in string
		want      []string
	}{
		"no such token": {"hct_x", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{`"id":1`, "401"}},
		"not JSON":      {"hct_x", "{\n\n", nil},
	} {
		cmd := program(t.Context(), t, "mcp", "--server", server, "--token-file", secretFile(t, tt.token))
		cmd.Stdin = strings.NewReader(tt.in + "\n")
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(string(out)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: a line is %s", name, line)
			}
		}
		for _, want := range tt.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}
