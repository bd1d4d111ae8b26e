package skill

import (
	"cmp"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Why a skill is active.
const (
	Named     = "named"   // by the request
	Triggered = "trigger" // by a word of the message
	Loaded    = "loaded"  // by the agent
)

// Active is a skill that a run is given whole.
type Active struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// usualActive is how many skills are active at once where the request does not say.
const usualActive = 3

// Check refuses names of a request that are no skill, or one that is switched off: SKILL_UNAVAILABLE.
func Check(all []Skill, selection *agentv1.SkillSelection) error {
	for _, name := range selection.GetNames() {
		i := slices.IndexFunc(all, func(s Skill) bool { return s.Name == name })
		switch {
		case i < 0:
			return errs.New(errs.SkillUnavailable, "skills.names: there is no skill %q", cut(name))
		case !all[i].Enabled:
			return errs.New(errs.SkillUnavailable, "skills.names: the skill %q is switched off", name)
		}
	}
	return nil
}

// Choose returns the skills that a run is given whole: those that the request names, in its order, and then those that the
// message triggers, by priority and name, up to the most at once. Skills for nodes that are not connected are left out.
func Choose(all []Skill, text string, selection *agentv1.SkillSelection, connected []string) []Active {
	most := usualActive
	if selection != nil && selection.MaxActive != nil {
		most = int(selection.GetMaxActive())
	}
	var chosen []Active
	taken := map[string]bool{}
	take := func(s *Skill, reason string) {
		if s.Enabled && s.Fits(connected) && !taken[s.Name] {
			taken[s.Name] = true
			chosen = append(chosen, Active{s.Name, reason})
		}
	}
	for _, name := range selection.GetNames() {
		if i := slices.IndexFunc(all, func(s Skill) bool { return s.Name == name }); i >= 0 {
			take(&all[i], Named)
		}
	}
	if selection != nil && selection.MaxActive != nil {
		chosen = chosen[:min(len(chosen), most)]
	}
	if selection != nil && selection.Auto != nil && !selection.GetAuto() {
		return chosen
	}
	m := newMessage(text)
	for _, s := range byPriority(all) {
		if len(chosen) >= most {
			break
		}
		if slices.ContainsFunc(s.Triggers, m.has) {
			take(s, Triggered)
		}
	}
	return chosen
}

// byPriority returns skills, the most important first.
func byPriority(all []Skill) []*Skill {
	list := make([]*Skill, len(all))
	for i := range all {
		list[i] = &all[i]
	}
	slices.SortStableFunc(list, func(a, b *Skill) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	return list
}
