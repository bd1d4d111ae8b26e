package approval_test

import (
	"testing"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

var (
	desk  = tool.Place{Node: "desk", Mark: `desktop|"d"|"linux"|1`}
	click = tool.Spec{Name: "click", Layer: tool.Connector, Category: tool.Device}
	read  = tool.Spec{Name: "workspace_read", Layer: tool.Builtin, Category: tool.Filesystem, ReadOnly: true}
	find  = tool.Spec{Name: "find", Layer: tool.MCP, Category: tool.Service, Server: "notes", Fingerprint: "f1"}
)

// A mode, rules and a tool's own wish, for a tool on no list and on the list.
func TestDecide(t *testing.T) {
	t.Parallel()
	rule := func(enabled, requires bool) map[string]*agentv1.InterruptRule {
		return map[string]*agentv1.InterruptRule{"click": {Enabled: enabled, RequiresInterrupt: requires}}
	}
	for name, tt := range map[string]struct {
		policy       approval.Policy
		confirm      bool
		asks, listed bool
	}{
		"nothing chosen":             {approval.Policy{}, false, true, true},
		"everything":                 {approval.Policy{Mode: approval.RunEverything}, false, false, false},
		"allowlist":                  {approval.Policy{Mode: approval.UseAllowlist}, false, true, false},
		"every time":                 {approval.Policy{Mode: approval.AskEverytime}, false, true, true},
		"unknown mode":               {approval.Policy{Mode: "yolo"}, false, true, true},
		"everything, tool confirms":  {approval.Policy{Mode: approval.RunEverything}, true, true, true},
		"allowlist, tool confirms":   {approval.Policy{Mode: approval.UseAllowlist}, true, true, true},
		"everything, request asks":   {approval.Policy{Mode: approval.RunEverything, Config: rule(true, true)}, false, true, true},
		"allowlist, request asks":    {approval.Policy{Mode: approval.UseAllowlist, Config: rule(true, true)}, false, true, true},
		"everything, rule off":       {approval.Policy{Mode: approval.RunEverything, Config: rule(false, true)}, false, false, false},
		"everything, rule does not":  {approval.Policy{Mode: approval.RunEverything, Config: rule(true, false)}, false, false, false},
		"allowlist, rule does not":   {approval.Policy{Mode: approval.UseAllowlist, Config: rule(true, false)}, false, true, false},
		"every time, rule does not":  {approval.Policy{Mode: approval.AskEverytime, Config: rule(true, false)}, false, true, true},
		"every time, rule off":       {approval.Policy{Mode: approval.AskEverytime, Config: rule(false, false)}, false, true, true},
		"confirms, rule does not":    {approval.Policy{Mode: approval.RunEverything, Config: rule(true, false)}, true, true, true},
		"everything, rule of others": {approval.Policy{Mode: approval.RunEverything, Config: map[string]*agentv1.InterruptRule{"type": {Enabled: true, RequiresInterrupt: true}}}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := click
			spec.Confirm = tt.confirm
			tt.policy.RunMode = tool.ModeAgent
			if got := tt.policy.Decide(spec, desk); got.Verdict == approval.Ask != tt.asks || got.Reason == "" {
				t.Errorf("%+v", got)
			}
			tt.policy.Allowed = []store.AllowedTool{approval.Entry(spec, desk)}
			if got := tt.policy.Decide(spec, desk); got.Verdict == approval.Ask != tt.listed || got.Reason == "" {
				t.Errorf("on the list: %+v", got)
			}
		})
	}
}

// Whatever asks in agent mode asks in the modes in which nothing may change, and what these do not permit is refused.
func TestDecideInEveryMode(t *testing.T) {
	t.Parallel()
	confirms := read
	confirms.Confirm = true
	ruled := approval.Policy{Mode: approval.RunEverything, Config: map[string]*agentv1.InterruptRule{read.Name: {Enabled: true, RequiresInterrupt: true}}}
	for _, mode := range []string{tool.ModeAgent, tool.ModeAsk, tool.ModePlan, "unheard of"} {
		in := func(p approval.Policy) approval.Policy {
			p.RunMode = mode
			return p
		}
		if got := in(approval.Policy{Mode: approval.RunEverything}).Decide(read, tool.Place{}); got.Verdict != approval.Run {
			t.Errorf("%s: %+v", mode, got)
		}
		for name, got := range map[string]approval.Decision{
			"every time": in(approval.Policy{Mode: approval.AskEverytime}).Decide(read, tool.Place{}),
			"a rule":     in(ruled).Decide(read, tool.Place{}),
			"the tool":   in(approval.Policy{Mode: approval.RunEverything}).Decide(confirms, tool.Place{}),
			"no list":    in(approval.Policy{Mode: approval.UseAllowlist}).Decide(read, tool.Place{}),
		} {
			if got.Verdict != approval.Ask {
				t.Errorf("%s, %s: %+v", mode, name, got)
			}
		}
		if got := in(approval.Policy{Mode: approval.RunEverything}).Decide(click, desk); got.Verdict == approval.Refuse != (mode != tool.ModeAgent) {
			t.Errorf("%s: a click: %+v", mode, got)
		}
	}
}

// An entry stands for one tool of one source, as it was.
func TestAllowlist(t *testing.T) {
	t.Parallel()
	with := func(s tool.Spec, change func(*tool.Spec)) tool.Spec {
		change(&s)
		return s
	}
	reads := func(s *tool.Spec) { s.ReadOnly = true }
	clickable, findable := approval.Entry(click, desk), approval.Entry(find, tool.Place{})
	unseen := findable
	unseen.Fingerprint = ""
	name := approval.Names("click", "find", "get_text", "workspace_read", "github_get_file")
	for what, tt := range map[string]struct {
		list []store.AllowedTool
		spec tool.Spec
		at   tool.Place
		want approval.Decision // without its reason
	}{
		"as it was":                     {[]store.AllowedTool{clickable}, click, desk, approval.Decision{Verdict: approval.Run}},
		"connected anew":                {[]store.AllowedTool{clickable}, click, tool.Place{Node: "desk", Mark: `desktop|"d"|"linux"|2`}, approval.Decision{Verdict: approval.Run}},
		"another node":                  {[]store.AllowedTool{clickable}, click, tool.Place{Node: "web", Mark: desk.Mark}, approval.Decision{Verdict: approval.Ask}},
		"another device":                {[]store.AllowedTool{clickable}, click, tool.Place{Node: "desk", Mark: `desktop|"d"|"plan9"|1`}, approval.Decision{Verdict: approval.Ask}},
		"no node yet":                   {[]store.AllowedTool{{Layer: "connector", Tool: "click"}}, click, tool.Place{}, approval.Decision{Verdict: approval.Ask}},
		"a server's":                    {[]store.AllowedTool{findable}, find, tool.Place{}, approval.Decision{Verdict: approval.Run}},
		"renamed":                       {[]store.AllowedTool{findable}, with(find, func(s *tool.Spec) { s.Name, s.OwnName = "notes__find", "find" }), tool.Place{}, approval.Decision{Verdict: approval.Run}},
		"another server":                {[]store.AllowedTool{findable}, with(find, func(s *tool.Spec) { s.Server = "evil" }), tool.Place{}, approval.Decision{Verdict: approval.Ask}},
		"another server says it reads":  {nil, with(find, func(s *tool.Spec) { s.Server = "evil" }), tool.Place{}, approval.Decision{Verdict: approval.Ask}},
		"changed":                       {[]store.AllowedTool{findable}, with(find, func(s *tool.Spec) { s.Fingerprint = "f2" }), tool.Place{}, approval.Decision{Verdict: approval.Ask}},
		"not seen since":                {[]store.AllowedTool{unseen}, find, tool.Place{}, approval.Decision{Verdict: approval.Run, Pin: true}},
		"a node with a server's name":   {[]store.AllowedTool{findable}, with(click, func(s *tool.Spec) { s.Name = "find" }), tool.Place{Node: "notes"}, approval.Decision{Verdict: approval.Ask}},
		"trusted, and it reads":         {nil, with(find, reads), tool.Place{}, approval.Decision{Verdict: approval.Run}},
		"a name: ours":                  {name, read, tool.Place{}, approval.Decision{Verdict: approval.Run}},
		"a name: a provider's":          {name, tool.Spec{Name: "github_get_file", Layer: tool.OAuth, Provider: "github"}, tool.Place{}, approval.Decision{Verdict: approval.Run}},
		"a name: known to read":         {name, with(click, func(s *tool.Spec) { s.Name, s.ReadOnly = "get_text", true }), desk, approval.Decision{Verdict: approval.Run}},
		"a name: a node's":              {name, click, desk, approval.Decision{Verdict: approval.Ask}},
		"a name: a server's":            {name, find, tool.Place{}, approval.Decision{Verdict: approval.Ask}},
		"a name: a server that borrows": {name, with(find, func(s *tool.Spec) { s.Name = "get_text" }), tool.Place{}, approval.Decision{Verdict: approval.Ask}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			got := approval.Policy{RunMode: tool.ModeAgent, Mode: approval.UseAllowlist, Allowed: tt.list}.Decide(tt.spec, tt.at)
			if got.Verdict != tt.want.Verdict || got.Pin != tt.want.Pin || got.Reason == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}
