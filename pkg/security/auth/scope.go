package auth

import (
	"net/url"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Scope is a part of what a user may do, as the scope of a token names it.
type Scope string

// The scopes that are known. A scope "node:<id>" besides limits a token to that node, see [NodeScope].
const (
	// Full is everything that the user may do, also what no other scope covers: settings, saved tools, tokens, and to connect
	// as a node.
	Full Scope = "full"
	// ToolsRead is to see the user's nodes and their tools.
	ToolsRead Scope = "tools:read"
	// ToolsCall is to call the tools of the user's nodes.
	ToolsCall Scope = "tools:call"
	// AgentRun is to run agents, and to see and change what they work on: sessions, and files of the workspace. An agent may
	// use all of the user's nodes.
	AgentRun Scope = "agent:run"
)

// Scopes returns those that a token may have, but for the nodes'.
func Scopes() []Scope { return []Scope{ToolsRead, ToolsCall, AgentRun, Full} }

// nodePrefix begins a scope that limits a token to a node.
const nodePrefix = "node:"

// NodeScope returns the scope that limits a token to the node, or to it and others where the token has several such scopes.
// What a scope cannot hold of an id is escaped as in the path of a URL.
func NodeScope(id ids.NodeID) string {
	return nodePrefix + strings.NewReplacer(`"`, "%22", `\`, "%5C").Replace(url.PathEscape(string(id)))
}

// Nodes are the nodes that a token is good for. The zero value is all of them.
type Nodes struct {
	limited bool
	ids     []ids.NodeID
}

// OnlyNodes returns the given nodes and no others.
func OnlyNodes(list ...ids.NodeID) Nodes { return Nodes{limited: true, ids: list} }

// All reports whether there is no limit.
func (n Nodes) All() bool { return !n.limited }

// Has reports whether a node is among them.
func (n Nodes) Has(id ids.NodeID) bool { return !n.limited || slices.Contains(n.ids, id) }

// IDs returns the nodes, where there is a limit.
func (n Nodes) IDs() []ids.NodeID { return n.ids }

// Grant is what the bearer of a token may do in its user's name. The zero value is everything.
type Grant struct {
	limited bool
	scopes  []Scope
	// Nodes are those that the grant is good for, whatever its scopes.
	Nodes Nodes
}

// NewGrant returns what a token with the given scopes may do. Scopes that are not known give nothing. A scope of a node that
// cannot be read is a node that nobody has: it limits all the same.
func NewGrant(scopes []string) Grant {
	g := Grant{limited: true}
	for _, s := range scopes {
		escaped, isNode := strings.CutPrefix(s, nodePrefix)
		switch {
		case isNode:
			g.Nodes.limited = true
			if id, err := url.PathUnescape(escaped); err == nil && ids.Check("node", id) == nil {
				g.Nodes.ids = append(g.Nodes.ids, ids.NodeID(id))
			}
		case slices.Contains(Scopes(), Scope(s)):
			g.scopes = append(g.scopes, Scope(s))
		}
	}
	return g
}

// Has reports whether the grant covers a scope.
func (g Grant) Has(s Scope) bool {
	return !g.limited || slices.Contains(g.scopes, Full) || slices.Contains(g.scopes, s)
}

// Need is what a request asks of the grant of its user.
type Need struct {
	// Scopes are all needed. The zero Need is met by every token, also by one without any scope that is known.
	Scopes []Scope
	// AllNodes says that what is asked for can reach each of the user's nodes, or what belongs to none: a grant that is limited
	// to nodes does not cover it.
	AllNodes bool
}

// The needs of the ways into a gateway.
var (
	Anything  = Need{}
	ReadTools = Need{Scopes: []Scope{ToolsRead}}
	CallTools = Need{Scopes: []Scope{ToolsCall}}
	// UseTools is to see and call the tools of all nodes.
	UseTools   = Need{Scopes: []Scope{ToolsRead, ToolsCall}, AllNodes: true}
	RunAgents  = Need{Scopes: []Scope{AgentRun}, AllNodes: true}
	Everything = Need{Scopes: []Scope{Full}, AllNodes: true}
)

// ScopeError is the cause of an INSUFFICIENT_SCOPE.
type ScopeError struct {
	// Scopes would do.
	Scopes []Scope
}

func (e *ScopeError) Error() string { return "the token lacks the scope " + joined(e.Scopes) }

func joined(scopes []Scope) string {
	var b strings.Builder
	for i, s := range scopes {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// Allow refuses what the grant does not cover, as [errs.InsufficientScope].
func (g Grant) Allow(n Need) error {
	for _, s := range n.Scopes {
		if !g.Has(s) {
			return errs.New(errs.InsufficientScope, "the token does not allow this: it needs the scope %s: %w", joined(n.Scopes), &ScopeError{n.Scopes})
		}
	}
	if n.AllNodes && !g.Nodes.All() {
		return errs.New(errs.InsufficientScope, "the token is limited to some nodes, and this could reach others: it needs one without node scopes: %w",
			&ScopeError{n.Scopes})
	}
	return nil
}

// AllowNode refuses a node that the grant is not good for, as [errs.InsufficientScope].
func (n Nodes) AllowNode(id ids.NodeID) error {
	if n.Has(id) {
		return nil
	}
	return errs.New(errs.InsufficientScope, "the token is limited to other nodes than %q", id)
}
