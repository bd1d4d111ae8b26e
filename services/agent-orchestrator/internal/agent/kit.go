package agent

import (
	"runtime/debug"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// maxToolName is how much of a name that no tool has is kept.
const maxToolName = 256

// kit is what a run's agent can do, of all sources.
type kit struct {
	kits []tool.Kit // by source
	// What follows is made of kits.
	tools     map[string]tool.Tool // by their own names
	names     map[string]string    // what models call them, where that differs
	functions []llm.Function
	prompts   []string
	problems  []string
	unlisted  *tool.Failure // of a call that no tool answers to, as long as a source could not be looked at
}

// gather begins to open the sources, all at once: one that is slow is not waited for twice.
func (r *run) gather() {
	r.kit = &kit{kits: make([]tool.Kit, len(r.e.deps.Sources))}
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
	if err := r.flush(r.hold); err != nil { // it may take a while
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
	r.kit.arrange(approval.Policy{RunMode: r.settings.mode()}, append(r.todos.Tools(r.e.deps.Files), builtin.NewTask(r.task)))
}

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
		opened.Problems = append(opened.Problems, "Some tools are not available: "+err.Error())
	}
	return opened
}

// arrange makes one set of tools of all kits and what the agent itself has.
func (k *kit) arrange(policy approval.Policy, own []tool.Tool) {
	var all []tool.Tool
	k.prompts, k.problems, k.unlisted = nil, nil, nil
	for i := range k.kits {
		all = append(all, k.kits[i].Tools...)
		k.problems = append(k.problems, k.kits[i].Problems...)
		if k.unlisted == nil {
			k.unlisted = k.kits[i].Unlisted
		}
	}
	for i := len(k.kits) - 1; i >= 0; i-- {
		k.prompts = append(k.prompts, k.kits[i].Prompts...)
	}
	unique, problems := tool.Unique(append(all, own...))
	k.problems = append(k.problems, problems...)
	k.offer(policy.Offer(unique))
}

// offer sets the tools.
func (k *kit) offer(tools []tool.Tool) {
	k.tools, k.names = make(map[string]tool.Tool, len(tools)), nil
	k.functions = make([]llm.Function, 0, len(tools))
	for _, t := range tools {
		s := t.Spec()
		name := tool.ModelName(s.Name)
		k.tools[s.Name] = t
		if name != s.Name {
			if k.names == nil {
				k.names = map[string]string{}
			}
			k.names[name] = s.Name
		}
		k.functions = append(k.functions, llm.Function{Name: name, Description: s.Description, Parameters: s.Parameters})
	}
}

// nameOf returns the name of the tool that a model means; what it wrote, where there is none.
func (k *kit) nameOf(written string) string {
	if name, ok := k.names[written]; ok && k.tools[written] == nil {
		return name
	}
	return cutText(tool.CleanText(written), maxToolName)
}

func (k *kit) close() {
	for i := range k.kits {
		if end := k.kits[i].Close; end != nil {
			end()
		}
	}
}
