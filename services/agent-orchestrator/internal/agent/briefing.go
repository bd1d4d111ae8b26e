package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/prompt"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/memory"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Skills are the skills of users (package skill).
type Skills interface {
	// List returns all skills that a user has.
	List(ctx context.Context, user ids.UserID) ([]skill.Skill, error)
	// Bodies returns the texts of skills, by name.
	Bodies(ctx context.Context, user ids.UserID, list []skill.Skill) (map[string]string, error)
}

// checkSkills refuses a request for skills that cannot be used.
func (e *Engine) checkSkills(ctx context.Context, user ids.UserID, selection *agentv1.SkillSelection) error {
	if len(selection.GetNames()) == 0 {
		return nil
	}
	var all []skill.Skill
	if e.deps.Skills != nil {
		var err error
		if all, err = e.deps.Skills.List(ctx, user); err != nil {
			return err
		}
	}
	return skill.Check(all, selection)
}

// skillShare is the part of the model's window that the texts of active skills may take: one over it.
const skillShare = 4

// briefing is what a run's agent is told beside its conversation: skills. The run's goroutine owns it until settle has
// returned; from then on it does not change, and sub-agents read it, too.
type briefing struct {
	env      *environment // static
	gathered bool         // gather was called
	user     ids.UserID   // set by gather
	about    memory.About // likewise
	message  string       // with which the run began; set by settle
	opening  sync.WaitGroup

	// Written by the goroutine of gather.
	memories   []memory.Item // at the beginning
	skills     []skill.Skill
	unreadable error // why the skills are not there

	active []skill.Active
	bodies map[string]string
}

// gather begins to read what the user has, the first time that it is called.
func (b *briefing) gather() {
	if b.gathered {
		return
	}
	b.gathered = true
	b.user, b.about = b.env.lease.User, memory.About{Project: b.env.settings.Invoke.GetProjectId(), Session: string(b.env.lease.Session)}
	if b.env.deps.Skills != nil {
		b.opening.Go(func() {
			b.skills, b.unreadable = b.env.deps.Skills.List(b.env.asking, b.user)
		})
	}
	if b.env.remembers() {
		b.opening.Go(func() {
			if items, err := b.env.deps.Memories.List(b.env.asking, b.user); err == nil {
				b.memories = items
			}
		})
	}
}

// close waits until nothing is read any more.
func (b *briefing) close() { b.opening.Wait() }

// settle decides which skills the run is given whole: those of saved, where the run has begun before, else what request and
// message ask for. It leaves in the batch that it has. Without its skills a run goes on.
func (b *briefing) settle(conv *conversation, saved []byte) error {
	b.opening.Wait()
	b.message = lastAsked(conv.messages, b.env.lease.Run)
	if b.unreadable != nil {
		b.env.log.WarnContext(b.env.leased, "a run goes on without its user's skills", "error", b.unreadable)
		return nil
	}
	switch {
	case len(saved) > 0:
		if err := json.Unmarshal(saved, &b.active); err != nil {
			return fmt.Errorf("the skills of a run cannot be read: %w", err)
		}
	case conv.steps == 0:
		b.active = b.choose(conv.messages, b.env.lease.Run, conv.tools.Connected)
		if len(b.active) > 0 {
			conv.batch.Change.Skills, _ = json.Marshal(b.active) // strings alone: it cannot fail
		}
		for _, a := range b.active {
			conv.batch.AddEvent(journal.SkillEvent(a.Name, a.Reason))
		}
	}
	var err error
	if b.bodies, err = b.read(b.env.asking, b.active); err != nil {
		b.env.log.WarnContext(b.env.leased, "the texts of skills cannot be read", "error", err)
	}
	return nil
}

// choose returns the skills that request and message ask for.
func (b *briefing) choose(messages []store.Message, run string, connected []string) []skill.Active {
	return skill.Choose(b.skills, lastAsked(messages, run), b.env.settings.Invoke.GetSkills(), connected)
}

// read returns the texts of active skills.
func (b *briefing) read(ctx context.Context, active []skill.Active) (map[string]string, error) {
	if len(active) == 0 {
		return nil, nil
	}
	wanted := slices.DeleteFunc(slices.Clone(b.skills), func(s skill.Skill) bool {
		return !slices.ContainsFunc(active, func(a skill.Active) bool { return a.Name == s.Name })
	})
	return b.env.deps.Skills.Bodies(ctx, b.user, wanted)
}

// foretell is what text is going to be at the beginning of a run with these messages. The head start's goroutine calls it, before
// settle or beside it.
func (b *briefing) foretell(ctx context.Context, messages []store.Message, run string, connected []string, window int) string {
	b.opening.Wait()
	active := b.choose(messages, run, connected)
	bodies, err := b.read(ctx, active)
	if err != nil {
		return "" // then the guess is wrong, and costs no more than that
	}
	return prompt.With(memory.Prompt(b.memories, b.about, lastAsked(messages, run)), skill.Prompt(b.skills, active, bodies, connected, textLimit(window)))
}

// lastAsked is the user's message with which a run began.
func lastAsked(messages []store.Message, run string) string {
	for i := range messages {
		if messages[i].Run == run && messages[i].Role == store.RoleUser {
			return messages[i].Content
		}
	}
	return ""
}

// remembered are the items as they are now: what was forgotten since the run began is not told again. The first request of a
// run has those that were just read.
func (b *briefing) remembered(conv *conversation) []memory.Item {
	if conv.steps == 0 && !conv.isSubAgent() || !b.env.remembers() {
		return b.memories
	}
	items, err := b.env.deps.Memories.List(conv.asking, b.user)
	if err != nil {
		return nil // rather nothing than what may be forgotten
	}
	return items
}

// text is what the model is told behind the system prompt of a conversation; "" for nothing.
func (b *briefing) text(conv *conversation) string {
	connected := conv.tools.Connected
	return prompt.With(memory.Prompt(b.remembered(conv), b.about, b.message), skill.Prompt(b.skills, b.active, b.bodies, connected, textLimit(b.env.window)))
}

// textLimit is how many bytes the texts of active skills may have in a model's window of so many tokens.
func textLimit(window int) int { return window / skillShare * bytesPerToken }

// bytesPerToken is a rough guess, for cutting only.
const bytesPerToken = 3
