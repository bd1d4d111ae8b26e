package toolbox_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

func wiki() *agentv1.SavedTool {
	return &agentv1.SavedTool{
		Type: "mcp", Name: "wiki", BaseUrl: "https://wiki.example/mcp", Prompts: []string{"house"}, ApiKey: proto.String("KEY-1"),
		Headers: map[string]string{"X-Team": "HEAD-1", "X-Trace": "HEAD-2"}, Env: map[string]string{"A": "ENV-1"},
	}
}

func create(t *testing.T, b *box, tool *agentv1.SavedTool) *agentv1.SavedTool {
	t.Helper()
	got, err := b.CreateTool(as(t, "ana"), &agentv1.CreateToolRequest{Tool: tool})
	if err != nil {
		t.Fatal(ours(err))
	}
	return got.GetTool()
}

// secretless fails where an answer holds anything that was given as a secret.
func secretless(t *testing.T, m proto.Message) {
	t.Helper()
	text := protojson.Format(m)
	for _, secret := range []string{"KEY-", "HEAD-", "ENV-", "TOKEN-"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
}

func TestLifeOfATool(t *testing.T) {
	t.Parallel()
	b := start(t, options{})
	made := create(t, b, wiki())
	secretless(t, made)
	if made.GetId() == "" || !made.GetEnabled() || made.GetTransportType() != "streamable_http" || made.GetBaseUrl() != "https://wiki.example/mcp" ||
		!slices.Equal(made.GetSecrets(), []string{"api_key", "env.A", "headers.X-Team", "headers.X-Trace"}) || made.GetCreatedAt() == nil {
		t.Errorf("%v", made)
	}
	list, err := b.ListTools(as(t, "ana"), &agentv1.ListToolsRequest{})
	if err != nil || len(list.GetTools()) != 1 || !proto.Equal(list.GetTools()[0], made) {
		t.Errorf("%v, %v", list, err)
	}
	kept, err := b.store.GetTool(t.Context(), "ana", made.GetId())
	if err != nil || strings.Contains(string(kept.Config)+string(kept.Secrets), "-1") {
		t.Errorf("kept in clear: %s, %v", kept.Config, err)
	}

	// Left out stays, "" goes, what is given replaces.
	change := &agentv1.SavedTool{Name: "wiki 2", BaseUrl: "https://two.example", Headers: map[string]string{"X-Team": "", "X-New": "HEAD-3"}}
	updated, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: change})
	if err != nil {
		t.Fatal(ours(err))
	}
	secretless(t, updated)
	if got := updated.GetTool(); got.GetName() != "wiki 2" || len(got.GetPrompts()) != 0 || !got.GetEnabled() ||
		!slices.Equal(got.GetSecrets(), []string{"api_key", "env.A", "headers.X-New", "headers.X-Trace"}) {
		t.Errorf("%v", got)
	}
	servers, err := b.saved.Servers(t.Context(), "ana")
	if err != nil || len(servers) != 1 || servers[0].GetApiKey() != "KEY-1" || servers[0].GetHeaders()["X-New"] != "HEAD-3" || servers[0].GetEnv()["A"] != "ENV-1" {
		t.Errorf("%v, %v", servers, err)
	}
	change = &agentv1.SavedTool{Type: "mcp", Name: "wiki 2", BaseUrl: "https://two.example", ApiKey: proto.String(""), Enabled: proto.Bool(false)}
	if updated, err = b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: change}); err != nil {
		t.Fatal(ours(err))
	}
	if got := updated.GetTool(); got.GetEnabled() || slices.Contains(got.GetSecrets(), "api_key") {
		t.Errorf("%v", got)
	}
	if servers, err = b.saved.Servers(t.Context(), "ana"); err != nil || len(servers) != 0 {
		t.Errorf("a tool that is not enabled reaches runs: %v, %v", servers, err)
	}
	if _, err := b.DeleteTool(as(t, "ana"), &agentv1.DeleteToolRequest{Id: made.GetId()}); err != nil {
		t.Error(err)
	}
	if _, err := b.GetTool(as(t, "ana"), &agentv1.GetToolRequest{Id: made.GetId()}); !errors.Is(ours(err), errs.ToolNotFound) {
		t.Errorf("a deleted tool: %v", err)
	}
}

// Another's tool is absent, word for word.
func TestOthersToolsAreAbsent(t *testing.T) {
	t.Parallel()
	b := start(t, options{})
	id := create(t, b, wiki()).GetId()
	if list, err := b.ListTools(as(t, "bob"), &agentv1.ListToolsRequest{}); err != nil || len(list.GetTools()) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	for name, ask := range map[string]func(id string) error{
		"get": func(id string) error {
			_, err := b.GetTool(as(t, "bob"), &agentv1.GetToolRequest{Id: id})
			return err
		},
		"update": func(id string) error {
			_, err := b.UpdateTool(as(t, "bob"), &agentv1.UpdateToolRequest{Id: id, Tool: wiki()})
			return err
		},
		"delete": func(id string) error {
			_, err := b.DeleteTool(as(t, "bob"), &agentv1.DeleteToolRequest{Id: id})
			return err
		},
	} {
		err, absent := ask(id), ask("tool_none")
		if !errors.Is(ours(err), errs.ToolNotFound) || strings.ReplaceAll(err.Error(), id, "tool_none") != absent.Error() {
			t.Errorf("%s: %v, but absent: %v", name, err, absent)
		}
		if err := ask(""); !errors.Is(ours(err), errs.InvalidArgument) {
			t.Errorf("%s without an id: %v", name, err)
		}
	}
	if _, err := b.ListTools(t.Context(), &agentv1.ListToolsRequest{}); !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("without a user: %v", err)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	b := start(t, options{public: true})
	for field, change := range map[string]func(*agentv1.SavedTool){
		"the tool has": func(s *agentv1.SavedTool) { s.Command = strings.Repeat("x", 70<<10) },
		"type must":    func(s *agentv1.SavedTool) { s.Type = "skill" },
		"type must be": func(s *agentv1.SavedTool) { s.Type = "" },
		"name is":      func(s *agentv1.SavedTool) { s.Name = "" },
		"name holds":   func(s *agentv1.SavedTool) { s.Name = "a\nb" },
		"expires_at":   func(s *agentv1.SavedTool) { s.ExpiresAt = -1 },
		"base_url is":  func(s *agentv1.SavedTool) { s.BaseUrl = "" },
		"base_url: 10": func(s *agentv1.SavedTool) { s.BaseUrl = "https://10.0.0.1" },
		"base_url: th": func(s *agentv1.SavedTool) { s.BaseUrl = "http://wiki.example" },
		"transport":    func(s *agentv1.SavedTool) { s.TransportType = "pigeon" },
		"no processes": func(s *agentv1.SavedTool) { s.TransportType, s.Command = "stdio", "ls" },
		"api_key":      func(s *agentv1.SavedTool) { s.ApiKey = proto.String("KEY-\n1") },
		`headers: "a `: func(s *agentv1.SavedTool) { s.Headers["a b"] = "c" },
		"headers.X-A":  func(s *agentv1.SavedTool) { s.Headers["X-A"] = "HEAD-\r\n" },
		"env: ":        func(s *agentv1.SavedTool) { s.Env["A=B"] = "c" },
		"name must":    func(s *agentv1.SavedTool) { s.Type = "oauth" },
		"access_token": func(s *agentv1.SavedTool) { s.Type, s.Name = "oauth", "github" },
		"refresh_token": func(s *agentv1.SavedTool) {
			s.Type, s.Name, s.AccessToken, s.RefreshToken = "oauth", "github", proto.String("TOKEN-1"), proto.String("TOKEN-\n")
		},
	} {
		bad := wiki()
		change(bad)
		_, err := b.CreateTool(as(t, "ana"), &agentv1.CreateToolRequest{Tool: bad})
		if err = ours(err); !errors.Is(err, errs.InvalidArgument) && !errors.Is(err, errs.AddressRefused) {
			t.Errorf("%s: %v", field, err)
			continue
		}
		if !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), "KEY-") || strings.Contains(err.Error(), "HEAD-") || strings.Contains(err.Error(), "TOKEN-") {
			t.Errorf("want %s, got %v", field, err)
		}
	}
	if _, err := b.CreateTool(as(t, "ana"), &agentv1.CreateToolRequest{}); !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("nothing: %v", err)
	}
	id := create(t, b, wiki()).GetId()
	if _, err := b.CreateTool(as(t, "ana"), &agentv1.CreateToolRequest{Tool: wiki()}); !errors.Is(ours(err), errs.NameTaken) {
		t.Errorf("the same name: %v", err)
	}
	if _, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: id}); !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("an update to nothing: %v", err)
	}
	other := &agentv1.SavedTool{Type: "oauth", Name: "github", AccessToken: proto.String("TOKEN-1")}
	if _, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: id, Tool: other}); !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("another type: %v", err)
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	b := start(t, options{})
	made := create(t, b, &agentv1.SavedTool{
		Type: "oauth", Name: "github", AccessToken: proto.String("TOKEN-1"), RefreshToken: proto.String("TOKEN-R"), ExpiresAt: 1_900_000_000,
	})
	secretless(t, made)
	if !slices.Equal(made.GetSecrets(), []string{"access_token", "refresh_token"}) || made.GetExpiresAt() != 1_900_000_000 {
		t.Errorf("%v", made)
	}
	fresh := oauth.Token{Access: "TOKEN-2", Refresh: "TOKEN-S", Expires: time.Unix(1_950_000_000, 0)}
	if err := b.saved.Rotate(t.Context(), "ana", "github", "TOKEN-old", fresh); err != nil {
		t.Fatal(err)
	}
	if grants, err := b.saved.Grants(t.Context(), "ana"); err != nil || len(grants) != 1 || grants[0].GetAccessToken() != "TOKEN-1" {
		t.Errorf("a token took the place of another: %v, %v", grants, err)
	}
	if err := b.saved.Rotate(t.Context(), "ana", "github", "TOKEN-R", fresh); err != nil {
		t.Fatal(err)
	}
	grants, err := b.saved.Grants(t.Context(), "ana")
	if err != nil || len(grants) != 1 || grants[0].GetAccessToken() != "TOKEN-2" || grants[0].GetRefreshToken() != "TOKEN-S" || grants[0].GetExpiresAt() != 1_950_000_000 {
		t.Errorf("%v, %v", grants, err)
	}
	// An update that leaves the token out leaves its end, too.
	kept, err := b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: &agentv1.SavedTool{Name: "github"}})
	if err != nil || kept.GetTool().GetExpiresAt() != 1_950_000_000 {
		t.Errorf("%v, %v", kept, err)
	}
	_, err = b.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: made.GetId(), Tool: &agentv1.SavedTool{Name: "github", AccessToken: proto.String("")}})
	if !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("a grant without its token: %v", err)
	}
}

// Without its key a tool is listed, cannot be changed, and keeps no other from runs; nor does one whose secrets were put
// into the place of another's.
func TestSecretsThatDoNotOpen(t *testing.T) {
	t.Parallel()
	old := seal.NewKey()
	before := start(t, options{keys: []config.Secret{old}})
	id := create(t, before, wiki()).GetId()
	after := start(t, options{store: before.store})
	good := wiki()
	good.Name = "good"
	create(t, after, good)
	list, err := after.ListTools(as(t, "ana"), &agentv1.ListToolsRequest{})
	if err != nil || len(list.GetTools()) != 2 || len(list.GetTools()[0].GetSecrets()) != 4 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := after.UpdateTool(as(t, "ana"), &agentv1.UpdateToolRequest{Id: id, Tool: wiki()}); !errors.Is(ours(err), errs.Internal) {
		t.Errorf("%v", err)
	}
	if servers, err := after.saved.Servers(t.Context(), "ana"); err != nil || len(servers) != 1 || servers[0].GetName() != "good" {
		t.Errorf("%v, %v", servers, err)
	}
	rotated := start(t, options{store: before.store, keys: []config.Secret{seal.NewKey(), old}})
	if servers, err := rotated.saved.Servers(t.Context(), "ana"); err != nil || len(servers) != 1 || servers[0].GetName() != "wiki" {
		t.Errorf("%v, %v", servers, err)
	}
	mine, err := before.store.GetTool(t.Context(), "ana", id)
	if err != nil {
		t.Fatal(err)
	}
	mine.ID, mine.Name = "tool_other", "other"
	if _, err := before.store.CreateTool(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if servers, err := before.saved.Servers(t.Context(), "ana"); err != nil || len(servers) != 1 || servers[0].GetName() != "wiki" {
		t.Errorf("moved secrets open: %v, %v", servers, err)
	}
}
