package toolbox_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

// Where servers want their keys, and what of that their user is shown.
func TestAddressesAreSealed(t *testing.T) {
	t.Parallel()
	b := start(t, options{})
	for address, shown := range map[string]string{
		"https://mcp.example":                                       "https://mcp.example",
		"https://mcp.example:8443/api/mcp":                          "https://mcp.example:8443/api/mcp",
		"https://mcp.example/mcp?key=THE-KEY&team=THE-KEY":          "https://mcp.example/mcp?key=***&team=***",
		"https://mcp.example/mcp?THE-KEY":                           "https://mcp.example/mcp?***",
		"https://mcp.example/s/THE-KEY-THE-KEY-0123456789/sse":      "https://mcp.example/s/***/sse",
		"https://mcp.example/s/%54HE-KEY-THE-KEY-0123456789/sse?a=": "https://mcp.example/s/***/sse?a=***",
	} {
		saved := wiki()
		saved.Name, saved.BaseUrl = shown+address, address
		made := create(t, b, saved)
		if made.GetBaseUrl() != shown {
			t.Errorf("%s is shown as %s, want %s", address, made.GetBaseUrl(), shown)
		}
		kept, err := b.store.GetTool(t.Context(), "ana", made.GetId())
		if err != nil || strings.Contains(string(kept.Config)+string(kept.Secrets), "mcp.example") {
			t.Errorf("%s is kept in clear: %s, %v", address, kept.Config, err)
		}
		// What was shown may be sent back; what was not may not be made up.
		made.Enabled = nil
		if _, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: made}); err != nil {
			t.Errorf("%s sent back as shown: %v", address, ours(err))
		}
		servers, err := b.saved.Servers(t.Context(), "ana")
		if i := slices.IndexFunc(servers, func(s mcp.Server) bool { return s.GetName() == made.GetName() }); err != nil || i < 0 || servers[i].GetBaseUrl() != address {
			t.Errorf("a run gets %v, %v", servers, err)
		}
		if strings.Contains(shown, "***") {
			made.BaseUrl = strings.Replace(shown, "mcp.example", "two.example", 1)
			if _, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: made}); !errors.Is(ours(err), errs.InvalidArgument) {
				t.Errorf("half an address: %v", err)
			}
		}
		if _, err := b.DeleteTool(as(t, "ana"), &agentv1.DeleteToolRequest{Id: made.GetId()}); err != nil {
			t.Error(err)
		}
	}
}

func TestArgumentsAreSealed(t *testing.T) {
	t.Parallel()
	b := start(t, options{stdio: true})
	saved := &agentv1.SavedTool{
		Type: "mcp", Name: "files", TransportType: "stdio", Command: "npx",
		Args: []string{"-y", "server", "--api-key=THE-KEY", "--token", "THE-KEY", "-pTHE-KEY", "THE-KEY"},
	}
	made := create(t, b, saved)
	if want := []string{"-y", "***", "--api-key=***", "--token", "***", "***", "***"}; made.GetCommand() != "npx" || !slices.Equal(made.GetArgs(), want) {
		t.Errorf("%s %q", made.GetCommand(), made.GetArgs())
	}
	kept, err := b.store.GetTool(t.Context(), "ana", made.GetId())
	if err != nil || strings.Contains(string(kept.Config)+string(kept.Secrets), "KEY") {
		t.Errorf("kept in clear: %s, %v", kept.Config, err)
	}
	if _, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: made}); err != nil {
		t.Error(ours(err))
	}
	if servers, err := b.saved.Servers(t.Context(), "ana"); err != nil || len(servers) != 1 || !slices.Equal(servers[0].GetArgs(), saved.GetArgs()) {
		t.Errorf("%v, %v", servers, err)
	}
	made.Args = []string{"-y", "other", "--api-key=***"}
	if _, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: made}); !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("half the arguments: %v", err)
	}
}

// What the version before has kept in clear is sealed when a pod starts, and where a run finds it.
func TestWhatIsInClearIsSealed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "test.db")
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret("sqlite://" + file)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	key := seal.NewKey()
	sealer, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	insert := func(id string) { // as the version before did
		t.Helper()
		secrets, err := sealer.Seal(seal.ToolSecrets+seal.Purpose(" "+id), "ana", []byte(`{"api_key":"A"}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), `INSERT INTO tools (user_id, id, type, name, enabled, config, secrets, created, updated) VALUES ('ana', ?, 'mcp', ?, 1, ?, ?, 1, 1)`,
			id, id, []byte(`{"base_url":"https://mcp.example/mcp?key=THE-KEY","transport_type":"streamable_http","args":["THE-KEY"],"prompts":["p"],"secrets":["api_key"]}`), secrets)
		if err != nil {
			t.Fatal(err)
		}
	}
	inClear := func() (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM tools WHERE in_clear = 1 OR instr(config, 'THE-KEY') OR instr(secrets, 'THE-KEY')`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	b := start(t, options{store: s, keys: []config.Secret{key}})
	for _, id := range []string{"one", "two"} {
		insert(id)
	}
	if n := inClear(); n != 2 {
		t.Fatalf("%d tools are in clear before", n)
	}
	if err := b.saved.SealAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := inClear(); n != 0 {
		t.Errorf("%d tools are left in clear", n)
	}
	insert("three") // by a pod that is about to be replaced
	servers, err := b.saved.Servers(t.Context(), "ana")
	if err != nil || len(servers) != 3 {
		t.Fatalf("%v, %v", servers, err)
	}
	for _, m := range servers {
		if m.GetBaseUrl() != "https://mcp.example/mcp?key=THE-KEY" || m.GetApiKey() != "A" || !slices.Equal(m.GetArgs(), []string{"THE-KEY"}) || !slices.Equal(m.GetPrompts(), []string{"p"}) {
			t.Errorf("a run gets %v", m)
		}
	}
	if n := inClear(); n != 0 {
		t.Errorf("%d tools are left in clear after a run", n)
	}
	list, err := b.ListTools(as(t, "ana"), &agentv1.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := protojson.Marshal(list)
	if err != nil || strings.Contains(string(raw), "THE-KEY") || !json.Valid(raw) || !slices.Equal(list.GetTools()[0].GetSecrets(), []string{"api_key"}) {
		t.Errorf("%s, %v", raw, err)
	}
}
