package skill

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// atOnce is how many files of a folder are read or written at one time.
const atOnce = 8

// looks is how often a file is looked at that is not the one that the index knows, with pause between: somebody may be
// changing the skill.
const (
	looks = 5
	pause = 50 * time.Millisecond
)

// ReadFile returns a file of a skill, SKILL.md included. Errors: SKILL_NOT_FOUND, FILE_NOT_FOUND, SKILL_CHANGED.
func (l *Library) ReadFile(ctx context.Context, user ids.UserID, name, path string) ([]byte, error) {
	for look := 1; ; look++ {
		s, err := l.find(ctx, user, name)
		if err != nil {
			return nil, err
		}
		if s.Source == Bundled {
			if data, ok := l.bundled[name].folder[path]; ok {
				return data, nil
			}
			return nil, noFile(name, path)
		}
		wanted := ""
		for _, f := range s.Files {
			if f.Path == path {
				wanted = f.Sum
			}
		}
		if path == Main {
			if wanted, err = l.mainSum(ctx, user, name); err != nil {
				return nil, err
			}
		}
		if wanted == "" {
			return nil, noFile(name, path)
		}
		_, data, err := l.files.Get(ctx, user, name+"/"+path)
		switch {
		case err == nil && sum(data) == wanted:
			return data, nil
		case err != nil && !errors.Is(err, errs.FileNotFound):
			return nil, err
		case look == looks:
			return nil, errs.New(errs.SkillChanged, "the file %s of the skill %s is not the one that was saved; POST /api/skill/sync reads the folder again",
				cut(path), name)
		case !sleep.For(ctx, time.Duration(look)*pause):
			return nil, ctx.Err()
		}
	}
}

func noFile(name, path string) error {
	return errs.New(errs.FileNotFound, "the skill %s has no file %s", name, cut(path))
}

func (l *Library) mainSum(ctx context.Context, user ids.UserID, name string) (string, error) {
	saved, err := l.store.SkillsWithBodies(ctx, user, []string{name})
	if err != nil || len(saved) == 0 {
		return "", errors.Join(err, notFoundIf(err == nil, name))
	}
	return saved[0].Sum, nil
}

func notFoundIf(missing bool, name string) error {
	if missing {
		return notFound(name)
	}
	return nil
}

// write writes the files of a folder, SKILL.md last: a folder without it is no skill.
func (l *Library) write(ctx context.Context, user ids.UserID, name string, folder Folder) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for path, data := range folder {
		if path != Main {
			g.Go(func() error { return l.files.Put(within, user, name+"/"+path, "", data) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return l.files.Put(ctx, user, name+"/"+Main, "text/markdown; charset=utf-8", folder[Main])
}

// remove removes files of a folder; those that are not there do not matter.
func (l *Library) remove(ctx context.Context, user ids.UserID, name string, paths []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, path := range paths {
		g.Go(func() error {
			if err := l.files.Delete(ctx, user, name+"/"+path); err != nil && !errors.Is(err, errs.FileNotFound) {
				return err
			}
			return nil
		})
	}
	return g.Wait()
}
