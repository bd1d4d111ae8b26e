package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// Problem is a folder or file that is no skill.
type Problem struct{ Path, Message string }

// maxProblems bounds what a sync tells.
const maxProblems = 100

// Sync makes the index what lies in the storage: folders that were put there, changed or removed by somebody else. It returns how
// many skills it has read, and what is none.
func (l *Library) Sync(ctx context.Context, user ids.UserID) (loaded int, problems []Problem, err error) {
	err = l.change(ctx, user, func(c *store.SkillChange, all []Skill) error {
		folders, strays, err := l.stored(ctx, user)
		if err != nil {
			return err
		}
		problems = strays
		var put []store.SavedSkill
		var found []Skill
		for _, name := range slices.Sorted(maps.Keys(folders)) {
			s, entry, err := l.readFolder(ctx, user, all, name, folders[name])
			if err == nil && len(found) >= MaxSkills {
				err = errs.New(errs.LimitReached, "a user may have at most %d skills", MaxSkills)
			}
			if err == nil {
				err = l.room(found, &s)
			}
			if err != nil {
				var refused *errs.Error
				if !errors.As(err, &refused) || errors.Is(err, errs.AgentUnavailable) {
					return err
				}
				problems = append(problems, Problem{name + "/" + Main, refused.Message})
				continue
			}
			found, put = append(found, s), append(put, entry)
		}
		var gone []string
		for i := range all {
			s := &all[i]
			if s.Source != Bundled && !slices.ContainsFunc(found, func(f Skill) bool { return f.Name == s.Name }) {
				gone = append(gone, s.Name)
			}
		}
		loaded = len(found)
		return c.Put(ctx, put, gone)
	})
	return loaded, problems[:min(len(problems), maxProblems)], err
}

// stored lists the folders of a user with their files, and files that are in none.
func (l *Library) stored(ctx context.Context, user ids.UserID) (folders map[string][]workspace.File, strays []Problem, err error) {
	folders = map[string][]workspace.File{}
	for cursor, files := "", 0; ; {
		page, err := l.files.List(ctx, user, "", workspace.MaxList, cursor)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range page.Files {
			name, _, nested := strings.Cut(f.Path, "/")
			if !nested {
				strays = append(strays, Problem{f.Path, "it is in no folder"})
				continue
			}
			folders[name] = append(folders[name], f)
		}
		files += len(page.Files)
		if cursor = page.Cursor; cursor == "" {
			return folders, strays, nil
		}
		if files > 2*MaxSkills*maxFiles {
			return nil, nil, errs.New(errs.LimitReached, "there are more than %d files below skills/", 2*MaxSkills*maxFiles)
		}
	}
}

// readFolder reads a skill from the storage. What the user has set of it stays.
func (l *Library) readFolder(ctx context.Context, user ids.UserID, all []Skill, name string, files []workspace.File) (Skill, store.SavedSkill, error) {
	fail := func(err error) (Skill, store.SavedSkill, error) { return Skill{}, store.SavedSkill{}, err }
	total := int64(0)
	for _, f := range files {
		if total += f.Size; total > MaxBytes {
			return fail(tooLarge())
		}
	}
	if len(files) > maxFiles {
		return fail(invalid("there are %d files; a skill has at most %d", len(files), maxFiles))
	}
	folder, err := l.fetch(ctx, user, name, files)
	if err != nil {
		return fail(err)
	}
	text, err := folder.check()
	if err != nil {
		return fail(err)
	}
	if text.Name != name {
		return fail(invalid("the front matter's name is %s; it must be that of the folder, %s", text.Name, cut(name)))
	}
	before, err := own(all, name)
	if err != nil {
		return fail(err)
	}
	s := newSkill(text, folder, Local, now())
	if before != nil {
		s.Source = before.Source
		s.inherit(before, text)
	}
	entry, err := entryOf(&s, text.Body, sum(folder[Main]))
	if err != nil || before == nil {
		return s, entry, err
	}
	saved, err := l.store.SkillsWithBodies(ctx, user, []string{name})
	if err == nil && len(saved) == 1 && saved[0].Sum == entry.Sum { // its front matter says nothing new
		s.Enabled, s.Priority = saved[0].Enabled, saved[0].Priority
		entry.Enabled, entry.Priority = s.Enabled, s.Priority
		if string(saved[0].Files) == string(entry.Files) {
			s.Updated, entry.Updated = saved[0].Updated, saved[0].Updated
		}
	}
	return s, entry, err
}

// fetch reads the files of a folder.
func (l *Library) fetch(ctx context.Context, user ids.UserID, name string, files []workspace.File) (Folder, error) {
	data := make([][]byte, len(files))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, f := range files {
		g.Go(func() (err error) {
			_, data[i], err = l.files.Get(within, user, f.Path)
			if err != nil {
				return fmt.Errorf("skill: read a file: %w", err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	folder := make(Folder, len(files))
	for i, f := range files {
		folder[strings.TrimPrefix(f.Path, name+"/")] = data[i]
	}
	return folder, nil
}
