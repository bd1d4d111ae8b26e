package connector

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// listing is what a look at a session's nodes showed, as runs are told of it. It does not change.
type listing struct {
	// outline is the same for looks that showed the same; "" where nothing could be seen.
	outline string
	node    string // whose tools these are; "" where nobody has chosen a node
	specs   []tool.Spec
	prompts []string
	// problems are told to the model. Where some node may come back soon, the listing is stale from the beginning.
	problems []string
	stale    bool

	looked time.Time // owned by memory
}

func newListing(resp *toolv1.ResolveNodeResponse, mode string) *listing {
	l := &listing{}
	nodes := resp.GetAvailableNodes()
	if n := resp.GetNode(); n != nil {
		nodes, l.node = []*nodev1.Node{n}, n.GetInfo().GetNodeId()
	}
	var outline strings.Builder
	fmt.Fprintf(&outline, "%q", l.node)
	seen := map[string]bool{}
	for _, n := range nodes {
		fmt.Fprintf(&outline, " %q %t %q", describe(n), n.GetIsConnected(), n.GetInfo().GetAvailableTools())
		for _, name := range n.GetInfo().GetAvailableTools() { // of several nodes that offer one, the first describes it
			if name != "" && !seen[name] {
				seen[name] = true
				l.specs = append(l.specs, specOf(name, n))
			}
		}
		switch {
		case !n.GetIsConnected():
			l.problems = append(l.problems, describe(n)+" is not connected; its tools can be called once it is back.")
			l.stale = true
		case len(n.GetInfo().GetAvailableTools()) > 0 && mode == tool.ModeAgent:
			l.prompts = append(l.prompts, "Connected: "+describe(n)+", with the tools "+strings.Join(n.GetInfo().GetAvailableTools(), ", ")+".")
		}
	}
	l.outline = outline.String()
	return l
}

func (l *listing) kit(s *Source, scope tool.Scope) *kit {
	k := &kit{listing: l, gateways: s.gateways, patience: s.patience, scope: scope, listed: time.Now()}
	k.stale.Store(l.stale)
	return k
}

const (
	// remembered is how long a listing is worth a guess, and memories how many are.
	remembered = time.Minute
	memories   = 1024
)

// memory has the listings of sessions that were looked at a short time ago, to guess what the next look will show. The zero
// memory is empty.
type memory struct {
	mu       sync.Mutex
	listings map[memoryKey]*listing // guarded by mu
}

type memoryKey struct {
	user      ids.UserID
	session   ids.SessionID // "" for those that are new
	preferred string
	mode      string
}

// recall returns what a session's nodes were, or for one that is new, those of the user's last new session; nil for neither.
func (m *memory) recall(scope tool.Scope) *listing {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, session := range []ids.SessionID{scope.Session, ""} {
		if l := m.listings[memoryKey{scope.User, session, scope.Preferred, scope.Mode}]; l != nil && time.Since(l.looked) < remembered {
			return l
		}
	}
	return nil
}

// keep remembers a listing and returns it, or the one that is remembered where that is the same.
func (m *memory) keep(scope tool.Scope, l *listing) *listing {
	m.mu.Lock()
	defer m.mu.Unlock()
	own, anew := memoryKey{scope.User, scope.Session, scope.Preferred, scope.Mode}, memoryKey{scope.User, "", scope.Preferred, scope.Mode}
	anews := m.listings[own] == nil || m.listings[own] == m.listings[anew] // what new sessions are to expect
	for _, key := range []memoryKey{own, anew} {
		if old := m.listings[key]; old != nil && old.outline == l.outline {
			l = old
		}
	}
	l.looked = time.Now()
	if m.listings == nil {
		m.listings = map[memoryKey]*listing{}
	}
	m.listings[own] = l
	if anews {
		m.listings[anew] = l
	}
	for key := range m.listings {
		if len(m.listings) <= memories {
			break
		}
		delete(m.listings, key) // any: it is only a guess
	}
	return l
}
