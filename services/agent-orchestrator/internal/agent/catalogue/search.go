package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// maxHits and maxHitBytes bound what one search for tools returns.
const (
	maxHits     = 10
	maxHitBytes = 24 << 10
)

// Search is what find_tools does: it returns one definition per line, and from then on these tools are offered.
func (c *Catalogue) Search(n *Names, query string) tool.Result {
	var b strings.Builder
	var keys []string
	for _, e := range c.matches(query) {
		line, _ := json.Marshal(definition{e.modelName(n), e.spec.Description, schemaOf(e.spec)})
		if b.Len()+len(line) > maxHitBytes && len(keys) > 0 {
			break
		}
		keys = append(keys, e.key)
		b.Write(append(line, '\n'))
	}
	if len(keys) == 0 {
		return tool.Result{Text: "No tool has any of these words in its name or description. Try others."}
	}
	n.addFound(keys)
	return tool.Result{Text: fmt.Sprintf("%d tools, the best first. They are offered from now on.\n%s", len(keys), b.String())}
}

// matches returns the tools that have words of a query in their names or descriptions, the best first.
func (c *Catalogue) matches(query string) []*entry {
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
		name, description := strings.ToLower(e.key+" "+e.label()), strings.ToLower(e.spec.Description)
		score := 0
		for _, w := range words {
			if strings.Contains(name, w) {
				score += 3
			}
			if strings.Contains(description, w) {
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

// definition is how a search tells a model about a tool.
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
