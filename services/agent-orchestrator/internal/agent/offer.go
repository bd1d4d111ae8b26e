package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

const (
	// maxOffered is how many tools one question offers: well-known endpoints take no more.
	maxOffered = 128
	// maxHits and maxHitBytes bound what one search for tools returns.
	maxHits     = 10
	maxHitBytes = 24 << 10
)

// entry is one tool of a kit.
type entry struct {
	tool   tool.Tool
	spec   tool.Spec
	key    string
	name   string // what models are told that it is called
	tokens int
}

// label is what people call the tool.
func (e *entry) label() string { return e.spec.Name }

func (e *entry) function(name string) llm.Function {
	return llm.Function{Name: name, Description: e.spec.Description, Parameters: e.spec.Parameters}
}

// catalogue is a set of tools by all their names. It is not changed once it is made.
type catalogue struct {
	entries []*entry
	keys    map[string]*entry
	names   map[string]*entry
	labels  map[string][]*entry
	tokens  int // of all definitions
}

func newCatalogue(tools []tool.Tool) catalogue {
	c := catalogue{keys: make(map[string]*entry, len(tools)), names: make(map[string]*entry, len(tools)), labels: map[string][]*entry{}}
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

// without returns the catalogue without some tools.
func (c *catalogue) without(categories ...tool.Category) catalogue {
	var tools []tool.Tool
	for _, e := range c.entries {
		if !slices.Contains(categories, e.spec.Category) {
			tools = append(tools, e.tool)
		}
	}
	return newCatalogue(tools)
}

// meant returns the tool that a model means by a name: what it has meant before in the run, else the tool that has the name
// towards models, else the only one that people call so. It returns nil where there is none.
func (c *catalogue) meant(l *lexicon, written string) *entry {
	if key, ok := l.meaning(written); ok {
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

// labelOf returns what people call what a model means by a name.
func (c *catalogue) labelOf(l *lexicon, written string) string {
	if e := c.meant(l, written); e != nil {
		return e.label()
	}
	return cutText(tool.CleanText(written), maxToolName)
}

// nameOf returns what a model is told that a tool is called: its key where its name has come to mean another in the run.
func (e *entry) nameOf(l *lexicon) string {
	if key, ok := l.meaning(e.name); ok && key != e.key {
		return e.key
	}
	return e.name
}

// offered are the definitions that one question has, of so many tokens. Where they are not all, those of the built-in tools
// come first, then those that were looked up, then an equal share of each source's, and find_tools has the rest.
func (c *catalogue) offered(l *lexicon, tokens int) []llm.Function {
	chosen := c.choose(l.found(), tokens)
	out := make([]llm.Function, 0, len(chosen))
	for _, e := range c.entries { // in an order that stays: endpoints remember how a request begins
		if chosen[e] {
			out = append(out, e.function(e.nameOf(l)))
		}
	}
	return out
}

func (c *catalogue) choose(found []string, tokens int) map[*entry]bool {
	chosen := make(map[*entry]bool, min(len(c.entries), maxOffered))
	all := c.tokens <= tokens && len(c.entries) <= maxOffered
	left := tokens
	take := func(e *entry) {
		if e != nil && !chosen[e] && e.tokens <= left && len(chosen) < maxOffered {
			chosen[e] = true
			left -= e.tokens
		}
	}
	var sources [][]*entry
	at := map[string]int{}
	for _, e := range c.entries {
		source := string(e.spec.Layer) + "|" + e.spec.Server
		switch i, known := at[source]; {
		case e.spec.Layer == tool.Builtin:
			if !all || e.key != builtin.FindTools {
				chosen[e] = true
				left -= e.tokens
			}
		case known:
			sources[i] = append(sources[i], e)
		default:
			at[source] = len(sources)
			sources = append(sources, []*entry{e})
		}
	}
	for _, key := range found {
		take(c.keys[key])
	}
	for i := 0; len(sources) > 0; i++ {
		sources = slices.DeleteFunc(sources, func(s []*entry) bool { return i >= len(s) })
		for _, s := range sources {
			take(s[i])
		}
	}
	return chosen
}

// search returns the tools whose names or descriptions have words of a query, the best first.
func (c *catalogue) search(query string) []*entry {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	type hit struct {
		e     *entry
		score int
	}
	var hits []hit
	for _, e := range c.entries {
		if e.key == builtin.FindTools {
			continue
		}
		name, about := strings.ToLower(e.key+" "+e.label()), strings.ToLower(e.spec.Description)
		score := 0
		for _, w := range words {
			if strings.Contains(name, w) {
				score += 3
			}
			if strings.Contains(about, w) {
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{e, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	out := make([]*entry, 0, maxHits)
	for _, h := range hits[:min(len(hits), maxHits)] {
		out = append(out, h.e)
	}
	return out
}

// lookUp is what find_tools does: one definition per line, and from now on they are offered.
func (c *catalogue) lookUp(l *lexicon, query string) tool.Result {
	var b strings.Builder
	var keys []string
	for _, e := range c.search(query) {
		line, _ := json.Marshal(definition{e.nameOf(l), e.spec.Description, schemaOf(e.spec)})
		if b.Len()+len(line) > maxHitBytes && len(keys) > 0 {
			break
		}
		keys = append(keys, e.key)
		b.Write(append(line, '\n'))
	}
	if len(keys) == 0 {
		return tool.Result{Text: "No tool has any of these words in its name or description. Try others."}
	}
	l.find(keys)
	return tool.Result{Text: fmt.Sprintf("%d tools, the best first. They are offered from now on.\n%s", len(keys), b.String())}
}

type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func schemaOf(s tool.Spec) json.RawMessage {
	if !json.Valid(s.Parameters) {
		return json.RawMessage(`{"type":"object"}`)
	}
	return s.Parameters
}
