package agent

import (
	"runtime/debug"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// maxToolName is how much of a name that no tool has is kept.
const maxToolName = 256

// kit is what a run's agent can do, of all sources.
type kit struct {
	kits []tool.Kit // by source
	// What follows is made of kits.
	catalogue
	remarks  []tool.Remark
	problems []string
	unlisted *tool.Failure // of a call that no tool answers to, as long as a source could not be looked at
}

// gather begins to open the sources, all at once: one that is slow is not waited for twice.
func (r *run) gather() {
	r.gathered = true
	r.openSources(func(int) bool { return true })
}

// refresh opens the sources again that have other tools by now.
func (r *run) refresh() error {
	stale := make([]bool, len(r.kit.kits))
	some := false
	for i := range r.kit.kits {
		if s := r.kit.kits[i].Stale; s != nil && s() {
			stale[i], some = true, true
		}
	}
	if !some {
		return nil
	}
	if err := r.flush(); err != nil { // it may take a while
		return err
	}
	r.openSources(func(i int) bool { return stale[i] })
	r.arrange()
	return nil
}

func (r *run) openSources(which func(source int) bool) {
	scope := tool.Scope{
		User: r.lease.User, Session: r.lease.Session, Run: r.lease.Run, Mode: r.settings.mode(),
		Preferred: r.settings.Invoke.GetPreferredNodeId(), Requested: r.settings.Invoke.GetTools(),
	}
	kits := r.kit.kits
	for i, source := range r.e.deps.Sources {
		if which(i) {
			r.opening.Go(func() {
				opened := r.openSource(source, scope)
				if old := kits[i].Close; old != nil {
					old()
				}
				kits[i] = opened
			})
		}
	}
}

// arrange waits for the sources, and makes one set of tools of what they have.
func (r *run) arrange() {
	r.opening.Wait()
	own := append(r.todos.Tools(r.e.deps.Files), builtin.NewTask(r.task), builtin.NewFind(r.find))
	r.kit.arrange(approval.Policy{RunMode: r.settings.mode()}, own)
}

// find looks tools up for the run's model, and those of its sub-agents.
func (r *run) find(query string) tool.Result { return r.kit.lookUp(r.lexicon, query) }

// openSource never fails: a run starts without a source that cannot be had, and says so.
func (r *run) openSource(source tool.Source, scope tool.Scope) (opened tool.Kit) {
	defer func() {
		if recover() != nil {
			r.log.ErrorContext(r.hold, "a source of tools panicked", "stack", string(debug.Stack()))
			opened = tool.Kit{Problems: []string{"Some tools are not available: their source failed"}}
		}
	}()
	opened, err := source.Tools(r.ask, scope)
	if err != nil {
		r.log.WarnContext(r.hold, "a source has no tools", "error", err)
		opened.Problems = append(opened.Problems, "Some tools are not available: "+said(err))
	}
	return opened
}

// arrange makes one set of tools of all kits and what the agent itself has.
func (k *kit) arrange(policy approval.Policy, own []tool.Tool) {
	all := own
	k.remarks, k.problems, k.unlisted = nil, nil, nil
	for i := range k.kits {
		all = append(all, k.kits[i].Tools...)
		k.problems = append(k.problems, k.kits[i].Problems...)
		if k.unlisted == nil {
			k.unlisted = k.kits[i].Unlisted
		}
	}
	for i := len(k.kits) - 1; i >= 0; i-- {
		k.remarks = append(k.remarks, k.kits[i].Remarks...)
	}
	labelled, problems := tool.Label(all)
	k.problems = append(k.problems, problems...)
	k.catalogue = newCatalogue(policy.Offer(labelled))
}

// forTask is what a sub-agent can do.
func (k *kit) forTask() *kit {
	return &kit{catalogue: k.without(tool.SubAgent, tool.TodoList), remarks: k.remarks, problems: k.problems, unlisted: k.unlisted}
}

// toolOf returns the tool of a call, nil where it is not there.
func (k *kit) toolOf(c *store.Call) tool.Tool {
	e := k.keys[c.Key]
	if several := k.labels[c.Tool]; e == nil && c.Key == "" && len(several) == 1 { // what was kept before calls had keys
		e = several[0]
	}
	if e == nil {
		return nil
	}
	return e.tool
}

func (k *kit) close() {
	for i := range k.kits {
		if end := k.kits[i].Close; end != nil {
			end()
		}
	}
}
