package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// MaxSkills is how many skills of their own a user may have.
const MaxSkills = 100

// change does one change of a user's skills, alone among all pods.
func (l *Library) change(ctx context.Context, user ids.UserID, do func(c *store.SkillChange, all []Skill) error) error {
	c, err := l.store.ChangeSkills(ctx, user)
	if err != nil {
		return err
	}
	all, err := l.List(ctx, user)
	if err == nil {
		err = do(c, all)
	}
	return errors.Join(err, c.End(ctx))
}

// Create saves a new skill. With replace it may take the place of one of the user's with the same name, with all its files.
// Errors: SKILL_INVALID, SKILL_TOO_LARGE, SKILL_EXISTS, LIMIT_REACHED, STORAGE_FULL.
func (l *Library) Create(ctx context.Context, user ids.UserID, folder Folder, replace bool) (Skill, string, error) {
	text, err := folder.check()
	if err != nil {
		return Skill{}, "", err
	}
	var saved Skill
	err = l.change(ctx, user, func(c *store.SkillChange, all []Skill) error {
		before, err := own(all, text.Name)
		switch {
		case err != nil:
			return err
		case before != nil && !replace:
			return errs.New(errs.SkillExists, "there is a skill %s already; ?replace=true replaces it", text.Name)
		case before == nil && countOwn(all) >= MaxSkills:
			return errs.New(errs.LimitReached, "a user may have at most %d skills", MaxSkills)
		}
		saved, err = l.put(ctx, c, user, all, before, text, folder, nil)
		return err
	})
	return saved, text.Body, err
}

// ReplaceMain replaces the SKILL.md of a skill; its other files stay. Errors: those of Create, SKILL_NOT_FOUND, SKILL_BUNDLED.
func (l *Library) ReplaceMain(ctx context.Context, user ids.UserID, name string, main []byte) (Skill, string, error) {
	text, err := Folder{Main: main}.check()
	if err != nil {
		return Skill{}, "", err
	}
	if text.Name != name {
		return Skill{}, "", invalid("the front matter's name is %s; it must stay %s", text.Name, cut(name))
	}
	var saved Skill
	err = l.change(ctx, user, func(c *store.SkillChange, all []Skill) error {
		before, err := named(all, name)
		if err != nil {
			return err
		}
		if before.Source == Bundled {
			return isBundled(name)
		}
		saved, err = l.put(ctx, c, user, all, &before, text, Folder{Main: main}, before.Files)
		return err
	})
	return saved, text.Body, err
}

// put writes a folder, then its entry. kept are the files of the skill before that stay.
func (l *Library) put(ctx context.Context, c *store.SkillChange, user ids.UserID, all []Skill, before *Skill, text Text, folder Folder, kept []File) (Skill, error) {
	s := newSkill(text, folder, Upload, now())
	s.Files = append(s.Files, kept...)
	s.inherit(before, text)
	if err := l.room(all, &s); err != nil {
		return s, err
	}
	if err := l.write(ctx, user, s.Name, folder); err != nil {
		if before == nil { // nothing is to be left of it
			l.leave(ctx, user, s.Name, l.remove(context.WithoutCancel(ctx), user, s.Name, slices.Collect(maps.Keys(folder))))
		}
		return s, err
	}
	entry, err := entryOf(&s, text.Body, sum(folder[Main]))
	if err == nil {
		err = c.Put(ctx, []store.SavedSkill{entry}, nil)
	}
	if err != nil || before == nil {
		return s, err
	}
	var old []string
	for _, f := range before.Files {
		if !slices.ContainsFunc(s.Files, func(kept File) bool { return kept.Path == f.Path }) {
			old = append(old, f.Path)
		}
	}
	l.leave(ctx, user, s.Name, l.remove(context.WithoutCancel(ctx), user, s.Name, old))
	return s, nil
}

// now is the time, as it is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// leave notes that files of a skill could not be removed: nothing refers to them.
func (l *Library) leave(ctx context.Context, user ids.UserID, name string, err error) {
	if err != nil {
		l.log.WarnContext(ctx, "files of a skill are left behind", "user", user, "skill", name, "error", err)
	}
}

// inherit keeps what the user has set of the skill before, where the new front matter does not say.
func (s *Skill) inherit(before *Skill, text Text) {
	if before == nil {
		return
	}
	if text.Enabled == nil {
		s.Enabled = before.Enabled
	}
	if text.Priority == nil {
		s.Priority = before.Priority
	}
}

// own returns the user's own skill of a name; nil if there is none. Names that differ in case only could be one folder.
func own(all []Skill, name string) (*Skill, error) {
	for i := range all {
		switch s := &all[i]; {
		case s.Source == Bundled:
		case s.Name == name:
			return s, nil
		case strings.EqualFold(s.Name, name):
			return nil, errs.New(errs.SkillExists, "there is a skill %s already, which differs in upper and lower case only", s.Name)
		}
	}
	return nil, nil
}

func countOwn(all []Skill) (n int) {
	for i := range all {
		if all[i].Source != Bundled {
			n++
		}
	}
	return n
}

// room refuses a skill for which the user's storage has no room.
func (l *Library) room(all []Skill, s *Skill) error {
	if s.bytes() > MaxBytes {
		return tooLarge()
	}
	used := int64(0)
	for i := range all {
		if all[i].Source != Bundled && all[i].Name != s.Name {
			used += all[i].bytes()
		}
	}
	if l.quota == 0 || used+s.bytes() <= l.quota {
		return nil
	}
	e := errs.New(errs.StorageFull, "the skill has %d bytes; of the %d that a user's skills may have, %d are left; delete some first",
		s.bytes(), l.quota, max(0, l.quota-used))
	e.Limit = &errs.LimitMet{Name: "skill_bytes", Limit: l.quota, Remaining: max(0, l.quota-used), RetryAfter: time.Minute}
	return e
}

// Delete removes a skill of the user's with its files. Errors: SKILL_NOT_FOUND, SKILL_BUNDLED.
func (l *Library) Delete(ctx context.Context, user ids.UserID, name string) error {
	return l.change(ctx, user, func(c *store.SkillChange, all []Skill) error {
		s, err := named(all, name)
		switch {
		case err != nil:
			return err
		case s.Source == Bundled:
			return isBundled(name)
		}
		// Without SKILL.md a sync does not bring it back, whatever becomes of the rest.
		if err := l.remove(ctx, user, name, []string{Main}); err != nil {
			return fmt.Errorf("skill: remove %s: %w", Main, err)
		}
		if err := c.Put(ctx, nil, []string{name}); err != nil {
			return err
		}
		var paths []string
		for _, f := range s.Files {
			paths = append(paths, f.Path)
		}
		l.leave(ctx, user, name, l.remove(context.WithoutCancel(ctx), user, name, paths))
		return nil
	})
}
