package agent

import (
	"runtime/debug"
	"sync"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/catalogue"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// toolset opens the sources of tools for a run, and makes a catalogue of what they list. The run's goroutine owns it; while
// sources are opened, each entry of listings belongs to the goroutine that opens its source.
type toolset struct {
	env       *environment
	own       []tool.Tool // the agent's own
	gathered  bool        // gather was called
	opening   sync.WaitGroup
	listings  []tool.Listing // by source
	catalogue *catalogue.Catalogue
}

func newToolset(env *environment) *toolset {
	return &toolset{env: env, listings: make([]tool.Listing, len(env.deps.Sources)), catalogue: &catalogue.Catalogue{}}
}

// gather begins to open all sources at once, the first time that it is called. The settings must be known.
func (t *toolset) gather() {
	if t.gathered {
		return
	}
	t.gathered = true
	t.open(func(int) bool { return true })
}

// arrange waits for the sources, and returns a catalogue of their tools and the agent's own.
func (t *toolset) arrange(own []tool.Tool) *catalogue.Catalogue {
	t.opening.Wait()
	t.own = own
	t.catalogue = catalogue.New(approval.Policy{RunMode: t.env.settings.mode()}, own, t.listings)
	return t.catalogue
}

// refresh opens the sources again that have other tools by now, and returns the catalogue. As that may take a while, it calls
// before first if there are any.
func (t *toolset) refresh(before func() error) (*catalogue.Catalogue, error) {
	stale := make([]bool, len(t.listings))
	some := false
	for i := range t.listings {
		if s := t.listings[i].Stale; s != nil && s() {
			stale[i], some = true, true
		}
	}
	if !some {
		return t.catalogue, nil
	}
	if err := before(); err != nil {
		return nil, err
	}
	t.open(func(i int) bool { return stale[i] })
	return t.arrange(t.own), nil
}

// open begins to open sources.
func (t *toolset) open(which func(source int) bool) {
	env := t.env
	scope := tool.Scope{
		User: env.lease.User, Session: env.lease.Session, Run: env.lease.Run, Mode: env.settings.mode(),
		Preferred: env.settings.Invoke.GetPreferredNodeId(), Requested: env.settings.Invoke.GetTools(),
		KnowledgeBases: env.settings.Invoke.GetKnowledgeBaseIds(),
	}
	for i, source := range env.deps.Sources {
		if which(i) {
			t.opening.Go(func() {
				listing := t.openSource(source, scope)
				if old := t.listings[i].Close; old != nil {
					old()
				}
				t.listings[i] = listing
			})
		}
	}
}

// openSource never fails: a run starts without a source that is not available, and tells the model.
func (t *toolset) openSource(source tool.Source, scope tool.Scope) (listing tool.Listing) {
	defer func() {
		if recover() != nil {
			t.env.log.ErrorContext(t.env.leased, "a source of tools panicked", "stack", string(debug.Stack()))
			listing = tool.Listing{Problems: []string{"Some tools are not available: their source failed"}}
		}
	}()
	listing, err := source.Tools(t.env.asking, scope)
	if err != nil {
		t.env.log.WarnContext(t.env.leased, "a source of tools is not available", "error", err)
		listing.Problems = append(listing.Problems, "Some tools are not available: "+publicMessage(err))
	}
	return listing
}

// close waits for the sources, and releases what their listings hold.
func (t *toolset) close() {
	t.opening.Wait()
	for i := range t.listings {
		if end := t.listings[i].Close; end != nil {
			end()
		}
	}
}
