package grpcapi

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// checkModel checks the form of llm_config. Whether its address is allowed is checked when it is dialled.
func checkModel(m *agentv1.ModelConfig) error {
	if m.GetBaseUrl() != "" {
		if err := checkURL("llm_config.baseUrl", m.GetBaseUrl()); err != nil {
			return err
		}
	}
	if t := m.GetTemperature(); math.IsNaN(t) || t < 0 || t > 2 {
		return invalid("llm_config.temperature must be between 0 and 2")
	}
	return first(
		optional("llm_config.modelName", m.GetModelName()),
		checkHeader("llm_config.apiKey", m.GetApiKey()),
		notNegative("llm_config.contextWindow", int64(m.GetContextWindow())),
	)
}

// checkURL checks a URL. The error does not repeat it, since it may hold a secret.
func checkURL(field, raw string) error {
	if err := atMost(field, raw, maxURL); err != nil {
		return err
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return invalid("%s must be http://host… or https://host…, without user and fragment", field)
	}
	return nil
}

// checkHeader checks the value of an HTTP header.
func checkHeader(field, value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) {
		return invalid("%s holds a control character", field)
	}
	return atMost(field, value, 16<<10)
}

// checkSources checks the tools of a request (docs/protocols/zeus-agents.md#tools-of-a-request).
func checkSources(sources []*agentv1.ToolSource) error {
	if len(sources) > maxSources {
		return invalid("tools has %d entries, at most %d are allowed", len(sources), maxSources)
	}
	names := map[string]bool{}
	for i, source := range sources {
		field := "tools[" + strconv.Itoa(i) + "]"
		if n := proto.Size(source); n > maxSource {
			return invalid("%s has %d bytes, at most %d are allowed", field, n, maxSource)
		}
		var name string
		var err error
		switch kind := source.GetSource().(type) {
		case *agentv1.ToolSource_Mcp:
			name, err = "mcp "+kind.Mcp.GetName(), checkServer(field, kind.Mcp)
		case *agentv1.ToolSource_Oauth:
			name, err = "oauth "+kind.Oauth.GetProvider(), checkGrant(field, kind.Oauth)
		default:
			return invalid("%s.type must be one of mcp, oauth", field)
		}
		if err != nil {
			return err
		}
		if names[name] {
			return invalid("%s has the name of another entry", field)
		}
		names[name] = true
	}
	return nil
}

func checkServer(field string, m *agentv1.McpServer) error {
	if err := first(
		ids.Check(field+".name", m.GetName()),
		oneOf(field+".transport_type", m.GetTransportType(), "", "streamable_http", "sse", "stdio"),
		checkHeader(field+".api_key", m.GetApiKey()),
	); err != nil {
		return err
	}
	for name, value := range m.GetHeaders() {
		if err := first(checkHeader(field+".headers", name), checkHeader(field+".headers", value)); err != nil {
			return err
		}
	}
	if m.GetTransportType() != "stdio" {
		return checkURL(field+".base_url", m.GetBaseUrl())
	}
	if m.GetCommand() == "" {
		return invalid("%s.command is empty", field)
	}
	return nil
}

func checkGrant(field string, g *agentv1.OAuthGrant) error {
	if err := oneOf(field+".name", g.GetProvider(), "github", "gmail", "google_drive", "slack", "notion"); err != nil {
		return err
	}
	if g.GetAccessToken() == "" {
		return invalid("%s.access_token is empty", field)
	}
	return first(
		checkHeader(field+".access_token", g.GetAccessToken()),
		checkHeader(field+".refresh_token", g.GetRefreshToken()),
		notNegative(field+".expires_at", g.GetExpiresAt()),
	)
}
