package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Types of saved tools.
const (
	typeMCP   = "mcp"
	typeOAuth = "oauth"
)

// open are the fields of a saved tool that are stored in plain text.
type open struct {
	address            // of a tool that was saved before addresses were sealed; never written
	Transport string   `json:"transport_type,omitempty"`
	Prompts   []string `json:"prompts,omitempty"`
	ExpiresAt int64    `json:"expires_at,omitempty"`
	// Trusted says that the user believes what the server says of its tools.
	Trusted bool `json:"trusted,omitempty"`
	// Secrets names those that are sealed, so that a list needs no key.
	Secrets []string `json:"secrets,omitempty"`
}

// secrets are the fields that are stored sealed. They are never shown again, except for the address, which its user sees
// with everything masked that may be a key.
type secrets struct {
	address
	APIKey       string            `json:"api_key,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	AccessToken  string            `json:"access_token,omitempty"`
	RefreshToken string            `json:"refresh_token,omitempty"`
}

// names are the fields that are set, as SavedTool.secrets shows them.
func (s secrets) names() []string {
	var names []string
	for field, value := range map[string]string{"api_key": s.APIKey, "access_token": s.AccessToken, "refresh_token": s.RefreshToken} {
		if value != "" {
			names = append(names, field)
		}
	}
	for name := range s.Headers {
		names = append(names, "headers."+name)
	}
	for name := range s.Env {
		names = append(names, "env."+name)
	}
	slices.Sort(names)
	return names
}

// with returns the secrets after a change: a field that the change leaves out stays, "" removes it.
func (s secrets) with(t *agentv1.SavedTool) secrets {
	for field, value := range map[*string]*string{&s.APIKey: t.ApiKey, &s.AccessToken: t.AccessToken, &s.RefreshToken: t.RefreshToken} {
		if value != nil {
			*field = *value
		}
	}
	s.Headers, s.Env = merged(s.Headers, t.GetHeaders()), merged(s.Env, t.GetEnv())
	return s
}

func merged(old, change map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, old)
	for name, value := range change {
		if out[name] = value; value == "" {
			delete(out, name)
		}
	}
	return out
}

// codec reads and writes saved tools.
type codec struct{ box *seal.Box }

// purpose binds secrets to their tool: the secrets of another tool of the same user cannot be opened in their place.
func purpose(id string) seal.Purpose { return seal.ToolSecrets + seal.Purpose(" "+id) }

// write fills in the stored fields of a tool.
func (c codec) write(t *store.SavedTool, o open, s secrets) error {
	o.Secrets, o.address = s.names(), address{}
	config, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("toolbox: encode a tool: %w", err)
	}
	plain, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("toolbox: encode a tool's secrets: %w", err)
	}
	t.Config = config
	t.Secrets, err = c.box.Seal(purpose(t.ID), t.User, plain)
	return err
}

// read returns the stored fields of a tool.
func (c codec) read(t store.SavedTool) (o open, s secrets, err error) {
	if o, err = c.open(t); err == nil {
		s, err = c.secrets(t)
	}
	if s.empty() {
		s.address = o.address
	}
	return o, s, err
}

func (codec) open(t store.SavedTool) (o open, err error) {
	if err := json.Unmarshal(t.Config, &o); err != nil {
		return o, fmt.Errorf("toolbox: saved tool %s: %w", t.ID, err)
	}
	return o, nil
}

func (c codec) secrets(t store.SavedTool) (s secrets, err error) {
	plain, err := c.box.Open(purpose(t.ID), t.User, t.Secrets)
	if err != nil {
		return s, &errs.Error{
			Reason: errs.Internal, Err: err,
			Message: "the secrets of this tool cannot be opened any more; delete it and create it again",
		}
	}
	if err := json.Unmarshal(plain, &s); err != nil {
		return s, errors.New("toolbox: the secrets of a saved tool are not JSON") // err might quote them
	}
	return s, nil
}

// message is a saved tool as its user sees it. A tool whose secrets cannot be opened any more is shown without its address,
// so that it can be deleted.
func (c codec) message(t store.SavedTool) (*agentv1.SavedTool, error) {
	o, err := c.open(t)
	if err != nil {
		return nil, err
	}
	at := address{}
	var trusted *bool
	if t.Type == typeMCP {
		trusted = proto.Bool(o.Trusted)
		if _, s, err := c.read(t); err == nil {
			at = s.shown()
		}
	}
	return &agentv1.SavedTool{
		Id: t.ID, Type: t.Type, Name: t.Name, Enabled: proto.Bool(t.Enabled), Trusted: trusted,
		BaseUrl: at.BaseURL, TransportType: o.Transport, Command: at.Command, Args: at.Args, Prompts: o.Prompts,
		ExpiresAt: float64(o.ExpiresAt), Secrets: o.Secrets,
		CreatedAt: timestamppb.New(t.Created), UpdatedAt: timestamppb.New(t.Updated),
	}, nil
}

func server(t store.SavedTool, o open, s secrets) *agentv1.McpServer {
	return &agentv1.McpServer{
		Name: t.Name, BaseUrl: s.BaseURL, TransportType: o.Transport, ApiKey: s.APIKey, Headers: s.Headers,
		Command: s.Command, Args: s.Args, Env: s.Env, Prompts: o.Prompts,
	}
}

func grant(t store.SavedTool, o open, s secrets) *agentv1.OAuthGrant {
	return &agentv1.OAuthGrant{Provider: t.Name, AccessToken: s.AccessToken, RefreshToken: s.RefreshToken, ExpiresAt: o.ExpiresAt}
}
