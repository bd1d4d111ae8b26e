package embedded_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// ask does a REST request as ana, and returns the answer's body.
func ask(t *testing.T, g embedded.Gateway, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+g.HTTP+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-User-Id", "ana")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s, %v", method, path, resp.Status, raw, err)
	}
	return string(raw)
}

// invoke gives the agent a goal, and returns the whole stream.
func invoke(t *testing.T, g embedded.Gateway, session, message string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"session_id": session, "message": message})
	stream := ask(t, g, http.MethodPost, "/api/agent/invoke", string(body))
	if !strings.Contains(stream, `"type":"complete"`) {
		t.Errorf("the stream ends with %s", stream)
	}
	return stream
}

// What one pod has done every other knows, and the next cluster on the same directory.
func TestAgentsKeep(t *testing.T) {
	t.Parallel()
	for name, storage := range map[string]string{"SQLite": "", "PostgreSQL": testkit.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "made", "data")
			o := embedded.Options{Gateways: 2, Orchestrators: 2, DataDir: dir, StorageURL: config.Secret(storage)}
			c, err := embedded.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			session := testkit.Prefix(t)
			invoke(t, c.Gateways[0], session, "hello")
			ask(t, c.Gateways[1], http.MethodPut, "/api/workspace/files/uploads/a.txt", "kept")
			for i, g := range c.Gateways {
				if got := ask(t, g, http.MethodGet, "/api/workspace/files/uploads/a.txt", ""); got != "kept" {
					t.Errorf("gateway %d: %q", i, got)
				}
			}
			if err := c.Stop(); err != nil {
				t.Fatal(err)
			}
			c = start(t, o)
			if got := ask(t, c.Gateways[0], http.MethodGet, "/api/agent/sessions/"+session+"/messages", ""); strings.Count(got, `"role":`) != 2 {
				t.Errorf("the messages are %s", got)
			}
			if got := ask(t, c.Gateways[0], http.MethodGet, "/api/workspace/files/uploads/a.txt", ""); got != "kept" {
				t.Errorf("the file is %q", got)
			}
			if len(c.Orchestrators) != 2 || c.Orchestrators[0] == c.Orchestrators[1] || c.DataDir != dir {
				t.Errorf("%+v in %s", c.Orchestrators, c.DataDir)
			}
			_, err = os.Stat(filepath.Join(dir, "hecaton.db"))
			if (err == nil) != (storage == "") {
				t.Errorf("hecaton.db: %v", err)
			}
			info, err := os.Stat(filepath.Join(dir, "secret.key"))
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("secret.key: %v, %v", info, err)
			}
		})
	}
}

// One cluster has a directory for itself; a temporary one is gone at the end.
func TestDataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, embedded.Options{DataDir: dir})
	c, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	var unusable *embedded.DataError
	if err == nil {
		t.Error("two clusters have one directory", c.Stop())
	} else if !errors.Is(err, embedded.ErrDataInUse) || !errors.As(err, &unusable) || unusable.Dir != dir {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := embedded.Start(t.Context(), embedded.Options{DataDir: filepath.Join(file, "below")}); err == nil {
		t.Error("a file is a directory", c.Stop())
	} else if !errors.As(err, &unusable) {
		t.Errorf("got %v", err)
	}
	temporary, err := embedded.Start(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(temporary.DataDir, "hecaton.db")); err != nil {
		t.Error(err)
	}
	if err := temporary.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(temporary.DataDir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", temporary.DataDir, err)
	}
}

// What users may have a pod reach depends on who they can be.
func TestTrust(t *testing.T) {
	t.Parallel()
	jwt := auth.Config{Mode: auth.JWT, Secret: "0123456789abcdef0123456789abcdef"}
	for name, tt := range map[string]struct {
		o              embedded.Options
		private, stdio bool
	}{
		"trusted":            {embedded.Options{}, true, false},
		"trusted, asked for": {embedded.Options{MCPStdio: true}, true, true},
		"trusted, far":       {embedded.Options{Host: "0.0.0.0"}, true, false},
		"jwt":                {embedded.Options{Auth: jwt}, false, false},
		"jwt, asked for":     {embedded.Options{Auth: jwt, MCPStdio: true}, false, true},
		"trusted, by name":   {embedded.Options{Host: "localhost"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got orchestrator.Config
			tt.o.Orchestrator = func(_ int, c *orchestrator.Config) { got = *c }
			start(t, tt.o)
			if got.Addresses.Private != tt.private || got.MCPStdio != tt.stdio {
				t.Errorf("private %v, stdio %v", got.Addresses.Private, got.MCPStdio)
			}
		})
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		m       embedded.Model
		offline bool
	}{
		"nothing":    {embedded.Model{}, true},
		"a name":     {embedded.Model{Name: "x"}, true},
		"a key":      {embedded.Model{Key: "k", Name: "x"}, false},
		"an address": {embedded.Model{BaseURL: "http://127.0.0.1:1/v1", Name: "x"}, false},
		"both":       {embedded.Model{Offline: true, BaseURL: "http://127.0.0.1:1/v1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got orchestrator.Config
			c := start(t, embedded.Options{Model: tt.m, Orchestrator: func(_ int, c *orchestrator.Config) { got = *c }})
			if (got.LLM == orchestrator.LLMOffline) != tt.offline || !tt.offline && (got.OpenAIURL != tt.m.BaseURL || got.OpenAIKey != tt.m.Key || got.OpenAIModel != "x") {
				t.Errorf("%s %s %s", got.LLM, got.OpenAIURL, got.OpenAIModel)
			}
			if tt.offline {
				if stream := invoke(t, c.Gateways[0], testkit.Prefix(t), "hello"); !strings.Contains(stream, `"finish_reason":"stop"`) {
					t.Errorf("the run: %s", stream)
				}
			}
		})
	}
}
