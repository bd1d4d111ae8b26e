package toolbox

import (
	"net/url"
	"slices"
	"strings"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// address is how an MCP server is reached. Many servers take their key in it.
type address struct {
	BaseURL string   `json:"base_url,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// hidden replaces what may be a key.
const hidden = "***"

// shortest is the least length of a part of a path that counts as a possible key, in bytes.
const shortest = 16

func (a address) empty() bool { return a.BaseURL == "" && a.Command == "" && len(a.Args) == 0 }

// same reports whether two addresses lead to the same server.
func (a address) same(b address) bool {
	return a.BaseURL == b.BaseURL && a.Command == b.Command && slices.Equal(a.Args, b.Args)
}

// shown is the address as its user sees it again, to recognise it: what may be a key is hidden.
func (a address) shown() address {
	args := make([]string, len(a.Args))
	for i, arg := range a.Args {
		args[i] = shownArg(arg)
	}
	return address{shownURL(a.BaseURL), a.Command, args}
}

// with is the address after a change. A part that a client sends back as it was shown stays unchanged; any other part must
// be complete.
func (a address) with(in *agentv1.SavedTool) (address, error) {
	shown := a.shown()
	next := address{in.GetBaseUrl(), in.GetCommand(), in.GetArgs()}
	switch {
	case a.BaseURL != "" && next.BaseURL == shown.BaseURL:
		next.BaseURL = a.BaseURL
	case strings.Contains(next.BaseURL, hidden):
		return next, invalid("base_url has %s in place of a hidden part: send it exactly as it is shown, or complete", hidden)
	}
	switch {
	case slices.Equal(next.Args, shown.Args):
		next.Args = a.Args
	case slices.ContainsFunc(next.Args, func(arg string) bool { return strings.HasSuffix(arg, hidden) }):
		return next, invalid("args has %s in place of a hidden part: send it exactly as it is shown, or complete", hidden)
	}
	return next, nil
}

// shownURL hides the user, the values of the query, and parts of the path that are long enough to be a key.
func shownURL(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return hidden
	}
	var b strings.Builder
	b.WriteString(u.Scheme + "://")
	if u.User != nil {
		b.WriteString(hidden + "@")
	}
	b.WriteString(u.Host)
	for i, segment := range strings.Split(u.EscapedPath(), "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		if len(segment) >= shortest {
			segment = hidden
		}
		b.WriteString(segment)
	}
	for i, pair := range strings.Split(u.RawQuery, "&") {
		if pair == "" {
			continue
		}
		b.WriteByte("?&"[min(i, 1)])
		if name, _, ok := strings.Cut(pair, "="); ok && len(name) < shortest {
			b.WriteString(name + "=")
		}
		b.WriteString(hidden)
	}
	return b.String()
}

// shownArg shows the names of options only: what follows one, in the same argument or the next, may be a key.
func shownArg(arg string) string {
	name, _, assigned := strings.Cut(arg, "=")
	switch {
	case strings.HasPrefix(arg, "--") && len(name) <= 2*shortest && assigned:
		return name + "=" + hidden
	case strings.HasPrefix(arg, "--") && len(name) <= 2*shortest, len(arg) == 2 && arg[0] == '-':
		return arg
	}
	return hidden
}
