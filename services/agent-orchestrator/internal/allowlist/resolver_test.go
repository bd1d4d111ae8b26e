package allowlist_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/allowlist"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// sources are a user's nodes and servers. They count how often they are asked.
type sources struct {
	nodes   []*nodev1.Node
	servers []tool.Spec
	err     error
	asked   int
}

func (s *sources) ListNodes(context.Context, *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error) {
	s.asked++
	return &toolv1.ListNodesResponse{Nodes: s.nodes}, s.err
}

func (s *sources) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	s.asked++
	var listing tool.Listing
	for _, spec := range s.servers {
		listing.Tools = append(listing.Tools, served{spec: spec})
	}
	return listing, nil
}

type served struct {
	tool.Tool
	spec tool.Spec
}

func (s served) Spec() tool.Spec { return s.spec }

func node(id, os string, tools ...string) *nodev1.Node {
	return &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: id, Os: os, AvailableTools: tools}}
}

func server(name string, tools ...string) (list []tool.Spec) {
	for _, t := range tools {
		list = append(list, tool.Spec{Name: t, Layer: tool.MCP, Server: name, Fingerprint: name + "'s " + t})
	}
	return list
}

// is describes an entry; fingerprints of nodes are long.
func is(e store.AllowedTool) string {
	seen := "unseen"
	if e.Fingerprint != "" {
		seen = "seen"
	}
	return e.Layer + "|" + e.Source + "|" + e.Tool + "|" + seen
}

func TestResolve(t *testing.T) {
	t.Parallel()
	now := func() *sources {
		return &sources{
			nodes:   []*nodev1.Node{node("desk", "linux", "click", "read_file"), node("web", "linux", "click", "a__save")},
			servers: slices.Concat(server("a", "find", "save", "click", "read_file", "workspace_write"), server("b", "find", "look")),
		}
	}
	bare := func(name string) store.AllowedTool { return store.AllowedTool{Tool: name} }
	exact := func(layer, source, name, fingerprint string) store.AllowedTool {
		return store.AllowedTool{Layer: layer, Source: source, Tool: name, Fingerprint: fingerprint}
	}
	old := exact("mcp", "a", "find", "old")
	for name, tt := range map[string]struct {
		kept   []store.AllowedTool
		names  []string
		wanted []store.AllowedTool
		want   []string
	}{
		"nodes":                       {nil, []string{"click"}, nil, []string{"||click|unseen", "connector|desk|click|seen", "connector|web|click|seen"}},
		"the only server":             {nil, []string{"look"}, nil, []string{"||look|unseen", "mcp|b|look|seen"}},
		"one of two servers":          {nil, []string{"find"}, nil, []string{"||find|unseen"}},
		"the one that is named":       {nil, []string{"b__find"}, nil, []string{"||b__find|unseen", "mcp|b|find|seen"}},
		"a node has a server's name":  {nil, []string{"a__save"}, nil, []string{"||a__save|unseen", "connector|web|a__save|seen"}},
		"ours":                        {nil, []string{"read_file", "workspace_write", "slack_post_message"}, nil, []string{"||read_file|unseen", "||slack_post_message|unseen", "||workspace_write|unseen"}},
		"nobody has it":               {nil, []string{"nothing"}, nil, []string{"||nothing|unseen"}},
		"it was there by name":        {[]store.AllowedTool{bare("look")}, []string{"look"}, nil, []string{"||look|unseen"}},
		"it was there":                {[]store.AllowedTool{bare("find"), old}, []string{"find"}, nil, []string{"mcp|a|find|seen", "||find|unseen"}},
		"it was there as an entry":    {[]store.AllowedTool{old}, []string{"find"}, nil, []string{"mcp|a|find|seen"}},
		"it is there no more":         {[]store.AllowedTool{bare("find"), old}, nil, nil, nil},
		"an entry":                    {nil, nil, []store.AllowedTool{exact("mcp", "b", "find", "")}, []string{"mcp|b|find|seen"}},
		"an entry of nobody":          {nil, nil, []store.AllowedTool{exact("mcp", "c", "find", "")}, []string{"mcp|c|find|unseen"}},
		"an entry of ours":            {nil, nil, []store.AllowedTool{exact("builtin", "", "workspace_write", "")}, []string{"builtin||workspace_write|unseen"}},
		"a name for its entries only": {[]store.AllowedTool{old}, []string{"find"}, []store.AllowedTool{exact("mcp", "b", "find", "")}, []string{"mcp|b|find|seen"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := now()
			got, err := resolver(t, s).Resolve(t.Context(), "ana", tt.kept, tt.names, tt.wanted)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, e := range got {
				have = append(have, is(e))
			}
			slices.Sort(have)
			slices.Sort(tt.want)
			if !slices.Equal(have, tt.want) || s.asked > 2 {
				t.Errorf("got %q, want %q; asked %d times", have, tt.want, s.asked)
			}
		})
	}
	t.Run("as it is now", func(t *testing.T) {
		t.Parallel()
		s := now()
		got, err := resolver(t, s).Resolve(t.Context(), "ana", []store.AllowedTool{old}, nil, []store.AllowedTool{exact("mcp", "a", "find", "")})
		if err != nil || got[0].Fingerprint != "a's find" {
			t.Errorf("%+v, %v", got, err)
		}
		s.servers = nil // it cannot be reached: as it was, not as it will be
		got, err = resolver(t, s).Resolve(t.Context(), "ana", []store.AllowedTool{old}, nil, []store.AllowedTool{exact("mcp", "a", "find", "")})
		if err != nil || got[0].Fingerprint != "old" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("nodes cannot be looked up", func(t *testing.T) {
		t.Parallel()
		s := now()
		s.err = errs.New(errs.BusUnavailable, "no gateway")
		r := resolver(t, s)
		if _, err := r.Resolve(t.Context(), "ana", nil, []string{"click"}, nil); !errors.Is(err, errs.BusUnavailable) {
			t.Errorf("got %v", err)
		}
		if _, err := r.Resolve(t.Context(), "ana", allowlist.NewUser(), []string{"read_file"}, nil); err != nil {
			t.Errorf("what need not be looked up: %v", err)
		}
	})
}

func resolver(t *testing.T, s *sources) *allowlist.Resolver {
	t.Helper()
	r, err := allowlist.New(allowlist.Options{Nodes: s, Servers: s})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is shown as names is taken as the same list when it comes back.
func TestNamesComeBack(t *testing.T) {
	t.Parallel()
	s := &sources{nodes: []*nodev1.Node{node("desk", "linux", "click")}, servers: server("a", "find")}
	r := resolver(t, s)
	first, err := r.Resolve(t.Context(), "ana", nil, []string{"a__find", "click", "read_file"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := allowlist.NamesOf(first)
	if !slices.Equal(names, []string{"a__find", "click", "read_file"}) {
		t.Errorf("%q", names)
	}
	s.nodes, s.servers = append(s.nodes, node("evil", "linux", "click")), append(s.servers, server("evil", "find", "a__find")...)
	again, err := r.Resolve(t.Context(), "ana", first, names, nil)
	if err != nil || len(again) != len(first) {
		t.Errorf("%+v, %v", again, err)
	}
}
