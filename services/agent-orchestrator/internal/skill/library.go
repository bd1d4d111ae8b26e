package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// Library has the skills of all users. It is safe for concurrent use.
type Library struct {
	// Static after construction.
	store   *store.Store
	files   *workspace.Store
	quota   int64 // bytes of one user's skills; 0 for no limit
	bundled map[string]whole
	log     *slog.Logger
}

// Options of a Library. All are required, unless they say otherwise.
type Options struct {
	// Store has the index.
	Store *store.Store
	// Files is the area of the storage that has the folders.
	Files *workspace.Store
	// Quota is how many bytes the skills of one user may have; 0 is no limit.
	Quota int64
	// Logger is told of files that are left behind; nil means discard.
	Logger *slog.Logger
}

// NewLibrary checks the options and returns a Library.
func NewLibrary(o Options) (*Library, error) {
	if err := options.Require("skill", map[string]bool{"Store": o.Store == nil, "Files": o.Files == nil}); err != nil {
		return nil, err
	}
	bundled, err := readBundled()
	return &Library{store: o.Store, files: o.Files, quota: o.Quota, bundled: bundled, log: obs.OrDiscard(o.Logger)}, err
}

// List returns all skills that a user has, by name. Of two with one name the user's own is there.
func (l *Library) List(ctx context.Context, user ids.UserID) ([]Skill, error) {
	saved, err := l.store.Skills(ctx, user)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Skill, len(saved)+len(l.bundled))
	for name := range l.bundled {
		all[name] = l.bundled[name].Skill
	}
	for i := range saved {
		k := &saved[i]
		if own, known := l.bundled[k.Name]; k.Bundled && known && all[k.Name].Source == Bundled {
			s := own.Skill
			s.Enabled, s.Priority, s.Updated = k.Enabled, k.Priority, k.Updated
			all[k.Name] = s
		} else if !k.Bundled {
			if all[k.Name], err = read(k); err != nil {
				return nil, err
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Skill) int { return strings.Compare(a.Name, b.Name) }), nil
}

// read is the skill of an entry.
func read(k *store.SavedSkill) (Skill, error) {
	s := Skill{Enabled: k.Enabled, Priority: k.Priority, Source: k.Source, Updated: k.Updated, Size: k.Size}
	if err := json.Unmarshal(k.About, &s.About); err != nil {
		return s, fmt.Errorf("skill: an entry cannot be read: %w", err)
	}
	if err := json.Unmarshal(k.Files, &s.Files); err != nil {
		return s, fmt.Errorf("skill: an entry cannot be read: %w", err)
	}
	return s, nil
}

// entryOf is the reverse of read.
func entryOf(s *Skill, body, mainSum string) (store.SavedSkill, error) {
	about, err := json.Marshal(s.About)
	if err != nil {
		return store.SavedSkill{}, fmt.Errorf("skill: an entry cannot be written: %w", err)
	}
	files, err := json.Marshal(append([]File{}, s.Files...))
	if err != nil {
		return store.SavedSkill{}, fmt.Errorf("skill: an entry cannot be written: %w", err)
	}
	return store.SavedSkill{
		Name: s.Name, Source: s.Source, Enabled: s.Enabled, Priority: s.Priority, About: about, Body: body, Files: files, Size: s.Size,
		Sum: mainSum, Updated: s.Updated,
	}, nil
}

// find returns the skill that a user has by a name: SKILL_NOT_FOUND.
func (l *Library) find(ctx context.Context, user ids.UserID, name string) (Skill, error) {
	all, err := l.List(ctx, user)
	if err != nil {
		return Skill{}, err
	}
	return named(all, name)
}

func named(all []Skill, name string) (Skill, error) {
	for i := range all {
		if all[i].Name == name {
			return all[i], nil
		}
	}
	return Skill{}, notFound(name)
}

// Get returns a skill with the text of its SKILL.md. Errors: SKILL_NOT_FOUND.
func (l *Library) Get(ctx context.Context, user ids.UserID, name string) (Skill, string, error) {
	s, err := l.find(ctx, user, name)
	if err != nil {
		return s, "", err
	}
	bodies, err := l.Bodies(ctx, user, []Skill{s})
	if err != nil {
		return s, "", err
	}
	body, there := bodies[name]
	if !there {
		return s, "", notFound(name) // deleted meanwhile
	}
	return s, body, nil
}

// Bodies returns the texts of skills, by name.
func (l *Library) Bodies(ctx context.Context, user ids.UserID, list []Skill) (map[string]string, error) {
	bodies := make(map[string]string, len(list))
	var own []string
	for i := range list {
		if s := &list[i]; s.Source == Bundled {
			bodies[s.Name] = l.bundled[s.Name].body
		} else {
			own = append(own, s.Name)
		}
	}
	saved, err := l.store.SkillsWithBodies(ctx, user, own)
	for i := range saved {
		bodies[saved[i].Name] = saved[i].Body
	}
	return bodies, err
}

// Set switches a skill on or off, or changes its priority; nil changes nothing. Errors: SKILL_NOT_FOUND.
func (l *Library) Set(ctx context.Context, user ids.UserID, name string, enabled *bool, priority *int) (Skill, error) {
	s, err := l.find(ctx, user, name)
	if err != nil {
		return s, err
	}
	usual := store.SavedSkill{Name: name, Source: s.Source}
	if s.Source == Bundled {
		own := l.bundled[name]
		usual.Bundled, usual.Enabled, usual.Priority = true, own.Enabled, own.Priority
	}
	if err := l.store.SetSkill(ctx, user, usual, enabled, priority); err != nil {
		return s, err
	}
	return l.find(ctx, user, name)
}

// isBundled is the refusal to change a skill that comes with the server.
func isBundled(name string) error {
	return errs.New(errs.SkillBundled, "%s comes with the server: it can be switched off, or hidden by a skill of your own with its name", name)
}
