package agentapi

import (
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

const interruptConfig = "tool_interrupt_config"

// maxRules bounds its entries, on both levels together.
const maxRules = 1024

// interruptRules reads tool_interrupt_config: rules by tool, or one level deeper under any key. What a rule leaves out means
// that the user is asked.
func interruptRules(config jsonrpc.Object) (map[string]*agentv1.InterruptRule, error) {
	book := rulebook{rules: map[string]*agentv1.InterruptRule{}}
	jsonrpc.Members(config, func(tool, entry []byte) {
		if !book.add(nil, tool, entry) {
			jsonrpc.Members(entry, func(inner, rule []byte) { book.add(tool, inner, rule) })
		}
	})
	return book.rules, book.err
}

// rulebook collects rules until something is wrong.
type rulebook struct {
	rules map[string]*agentv1.InterruptRule
	seen  int // entries, whether rules or not
	err   error
}

// add reports whether an entry was a rule. It is none where it has neither of a rule's members, or where these hold objects,
// since they are names of tools then.
func (b *rulebook) add(parent, tool, entry []byte) bool {
	if b.err != nil || jsonrpc.IsNull(entry) {
		return false
	}
	if b.seen++; b.seen > maxRules {
		b.err = bad("%s has more than %d entries", interruptConfig, maxRules)
		return false
	}
	path := func() string {
		return strings.TrimSuffix(interruptConfig+"."+string(parent), ".") + "." + string(tool)
	}
	var r ruleBody
	if jsonrpc.Decode(entry, &r) != nil {
		b.err = bad("%s must be an object", path())
		return false
	}
	rule := &agentv1.InterruptRule{Enabled: true, RequiresInterrupt: true}
	found := false
	for _, part := range []struct {
		name string
		raw  []byte
		into *bool
	}{{"enabled", r.Enabled, &rule.Enabled}, {"requires_interrupt", r.RequiresInterrupt, &rule.RequiresInterrupt}} {
		if jsonrpc.IsNull(part.raw) || jsonrpc.IsObject(part.raw) {
			continue
		}
		found = true
		switch string(part.raw) {
		case "true", "false":
			*part.into = string(part.raw) == "true"
		default:
			b.err = bad("%s.%s must be true or false", path(), part.name)
		}
	}
	if found {
		b.rules[string(tool)] = rule
	}
	return found
}
