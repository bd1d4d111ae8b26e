package catalogue

import (
	"slices"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// maxName is the most bytes of a name that no tool has which are stored.
const maxName = 256

// Catalogue is the set of tools that an agent has, by all their names, and what their sources said beside.
type Catalogue struct {
	entries []*entry
	keys    map[string]*entry
	names   map[string]*entry   // by the name for models
	labels  map[string][]*entry // by the name for people, which several tools may share
	tokens  int                 // of all definitions

	// Remarks are what the sources want the agent to know beside their tools.
	Remarks []tool.Remark
	// Connected are the types of the nodes that the run can use now.
	Connected []string
	// Problems say which tools are missing, and why.
	Problems []string
	// Unlisted is how a call of an unknown tool ends while the tools of some source are unknown; nil where all are known.
	Unlisted *tool.Failure
}

// entry is one tool.
type entry struct {
	tool   tool.Tool
	spec   tool.Spec
	key    string
	name   string // for models
	tokens int    // of its definition
}

// label is the tool's name for people.
func (e *entry) label() string { return e.spec.Name }

// modelName is the tool's name for models: its key, if its name has come to mean another tool in the run.
func (e *entry) modelName(n *Names) string {
	if key, ok := n.KeyOf(e.name); ok && key != e.key {
		return e.key
	}
	return e.name
}

func (e *entry) function(name string) llm.Function {
	return llm.Function{Name: name, Description: e.spec.Description, Parameters: e.spec.Parameters}
}

// New makes one catalogue of the agent's own tools and those that the sources list, as far as the policy offers them.
func New(policy approval.Policy, own []tool.Tool, listings []tool.Listing) *Catalogue {
	all := own
	var problems, connected []string
	var remarks []tool.Remark
	var unlisted *tool.Failure
	for i := range listings {
		all = append(all, listings[i].Tools...)
		problems = append(problems, listings[i].Problems...)
		connected = append(connected, listings[i].Connected...)
		if unlisted == nil {
			unlisted = listings[i].Unlisted
		}
	}
	for i := len(listings) - 1; i >= 0; i-- {
		remarks = append(remarks, listings[i].Remarks...)
	}
	labelled, clashes := tool.Label(all)
	c := index(policy.Offer(labelled))
	c.Remarks, c.Problems, c.Unlisted, c.Connected = remarks, append(problems, clashes...), unlisted, connected
	return c
}

// index makes a catalogue of tools alone.
func index(tools []tool.Tool) *Catalogue {
	c := &Catalogue{keys: make(map[string]*entry, len(tools)), names: make(map[string]*entry, len(tools)), labels: map[string][]*entry{}}
	for _, t := range tools {
		s := t.Spec()
		e := &entry{tool: t, spec: s, key: tool.Key(s), name: tool.ModelName(s)}
		e.tokens = llm.Estimate(llm.Request{Tools: []llm.Function{e.function(e.name)}})
		c.entries = append(c.entries, e)
		c.keys[e.key], c.names[e.name] = e, e
		c.labels[e.label()] = append(c.labels[e.label()], e)
		c.tokens += e.tokens
	}
	return c
}

// ForSubAgent is the catalogue of a sub-agent: all tools but sub-agents and the todo list.
func (c *Catalogue) ForSubAgent() *Catalogue {
	var tools []tool.Tool
	for _, e := range c.entries {
		if !slices.Contains([]tool.Category{tool.SubAgent, tool.TodoList}, e.spec.Category) {
			tools = append(tools, e.tool)
		}
	}
	sub := index(tools)
	sub.Remarks, sub.Problems, sub.Unlisted, sub.Connected = c.Remarks, c.Problems, c.Unlisted, c.Connected
	return sub
}

// ToolOf returns the tool that a call is of; nil if the catalogue has it not.
func (c *Catalogue) ToolOf(call *store.Call) tool.Tool {
	e := c.keys[call.Key]
	if several := c.labels[call.Tool]; e == nil && call.Key == "" && len(several) == 1 { // stored before calls had keys
		e = several[0]
	}
	if e == nil {
		return nil
	}
	return e.tool
}

// Label returns the name for people of the tool that a model means by a name. If there is no such tool it returns what the
// model wrote, shortened.
func (c *Catalogue) Label(n *Names, written string) string {
	if e := c.meant(n, written); e != nil {
		return e.label()
	}
	return tool.Cut(tool.CleanText(written), maxName)
}

// Bind finds the tool that a model calls by a name, and has the name mean that tool to the run's end. It returns the tool's
// name for people, as [Catalogue.Label], and its key, "" if there is no such tool.
func (c *Catalogue) Bind(n *Names, written string) (label, key string) {
	label = c.Label(n, written)
	if e := c.meant(n, written); e != nil {
		n.Bind(written, e.key)
		return label, e.key
	}
	return label, ""
}

// meant returns the tool that a model means by a name: what the name has meant before in the run, else the tool that has the
// name for models, else the only one that has it for people. It returns nil if there is none.
func (c *Catalogue) meant(n *Names, written string) *entry {
	if key, ok := n.KeyOf(written); ok {
		return c.keys[key]
	}
	if e := c.names[written]; e != nil {
		return e
	}
	if e := c.keys[written]; e != nil {
		return e
	}
	if several := c.labels[written]; len(several) == 1 {
		return several[0]
	}
	return nil
}
