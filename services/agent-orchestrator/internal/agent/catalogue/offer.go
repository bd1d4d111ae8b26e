package catalogue

import (
	"slices"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// maxOffered is the most tools that one request offers: well-known endpoints take no more.
const maxOffered = 128

// Functions returns the definitions for one request to the model, of at most so many tokens. If they are not all, built-in
// tools come first, then those that were found by a search, then an equal share of each source's; find_tools finds the rest.
func (c *Catalogue) Functions(n *Names, tokens int) []llm.Function {
	chosen := c.choose(n.found(), tokens)
	out := make([]llm.Function, 0, len(chosen))
	for _, e := range c.entries { // always in the same order: endpoints cache how a request begins
		if chosen[e] {
			out = append(out, e.function(e.modelName(n)))
		}
	}
	return out
}

func (c *Catalogue) choose(found []string, tokens int) map[*entry]bool {
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
