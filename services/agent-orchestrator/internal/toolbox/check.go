package toolbox

import (
	"errors"
	"math"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// maxTool bounds one configuration, in bytes.
const maxTool = 64 << 10

func invalid(format string, args ...any) error {
	return errs.New(errs.InvalidArgument, format, args...)
}

// checker checks tools before they are saved.
type checker struct {
	guard *netguard.Guard
	stdio bool
}

// form checks a request by itself, before it is merged with the stored tool.
func (c checker) form(t *agentv1.SavedTool) error {
	switch {
	case t == nil:
		return invalid("the tool is missing")
	case proto.Size(t) > maxTool:
		return invalid("the tool has %d bytes, at most %d are allowed", proto.Size(t), maxTool)
	case t.GetType() != typeMCP && t.GetType() != typeOAuth:
		return invalid("type must be mcp or oauth")
	case t.GetTrusted() && t.GetType() != typeMCP:
		return invalid("trusted is for tools of type mcp")
	case t.GetExpiresAt() < 0 || t.GetExpiresAt() > 1<<53 || math.IsNaN(t.GetExpiresAt()):
		return invalid("expires_at must be a time in Unix seconds")
	}
	return ids.Check("name", t.GetName())
}

// whole checks a tool as it would be stored.
func (c checker) whole(kind, name string, o open, s secrets) error {
	if kind == typeOAuth {
		switch {
		case oauth.CheckProvider(name) != nil:
			return invalid("name must be github, gmail, google_drive, slack or notion where type is oauth")
		case s.AccessToken == "":
			return invalid("access_token is required where type is oauth")
		}
		return errors.Join(header("access_token", s.AccessToken), header("refresh_token", s.RefreshToken))
	}
	return c.server(&agentv1.McpServer{
		BaseUrl: s.BaseURL, TransportType: o.Transport, Command: s.Command, Args: s.Args,
		ApiKey: s.APIKey, Headers: s.Headers, Env: s.Env,
	})
}

// server checks how an MCP server is reached.
func (c checker) server(m *agentv1.McpServer) error {
	if m.GetTransportType() != mcp.Stdio && m.GetBaseUrl() == "" {
		return invalid("base_url is required")
	}
	if err := mcp.Check(m, c.guard, c.stdio); err != nil {
		var refused *errs.Error
		if errors.As(err, &refused) && m.GetTransportType() != mcp.Stdio && refused.Reason == errs.AddressRefused {
			return errs.New(errs.AddressRefused, "base_url: %s", refused.Message)
		}
		return err
	}
	if err := header("api_key", m.GetApiKey()); err != nil {
		return err
	}
	for name, value := range m.GetHeaders() {
		if !token(name) {
			return invalid("headers: %q is not the name of a header", name)
		}
		if err := header("headers."+name, value); err != nil {
			return err
		}
	}
	for name, value := range m.GetEnv() {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return invalid("env: %q is not the name of a variable, or its value has a NUL", name)
		}
	}
	for i, arg := range append([]string{m.GetCommand()}, m.GetArgs()...) {
		if strings.Contains(arg, "\x00") {
			return invalid("command or args[%d] holds a NUL", i-1)
		}
	}
	return nil
}

// header checks the value of an HTTP header; the error does not repeat it.
func header(field, value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) {
		return invalid("%s holds a control character", field)
	}
	return nil
}

// token reports whether s is a token of HTTP, such as the name of a header (RFC 9110, 5.6.2).
func token(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return name != ""
}
