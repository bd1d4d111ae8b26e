package catalogue

import (
	"context"
	"slices"
	"strings"
)

// Catalogue is the tools of several sources.
type Catalogue struct {
	// Sources have the tools. The first one that knows a name has it.
	Sources []Source
	// Finders are the tools of search mode.
	Finders func(v *View) []Tool
}

// View is what one request may see of a catalogue.
type View struct {
	Request
	catalogue *Catalogue
}

// View returns what a request may see.
func (c *Catalogue) View(r Request) *View { return &View{Request: r, catalogue: c} }

// Whole is the view without search mode: what its tools find and call.
func (v *View) Whole() *View {
	whole := *v
	whole.Search = false
	return &whole
}

// allows reports whether a tool is neither hidden nor refused.
func (v *View) allows(t *Tool) bool {
	if t.Node != "" && !v.Uses(t.Node) {
		return false
	}
	if t.Always {
		return true
	}
	if v.ReadOnly && !t.ReadOnly {
		return false
	}
	return v.Tools == nil || slices.Contains(v.Tools, t.Name) || t.Plain != "" && slices.Contains(v.Tools, t.Plain)
}

// List returns the tools, ordered by name.
func (v *View) List(ctx context.Context) ([]Tool, error) {
	var all []Tool
	for _, s := range v.sources() {
		tools, err := s.Tools(ctx, &v.Request)
		if err != nil {
			return nil, err
		}
		for i := range tools {
			if v.allows(&tools[i]) {
				all = append(all, tools[i])
			}
		}
	}
	slices.SortFunc(all, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Find returns the tool of a name; ok is false for a name that is unknown, or hidden.
func (v *View) Find(ctx context.Context, name string) (t Tool, ok bool, err error) {
	for _, s := range v.sources() {
		if t, ok, err = s.Find(ctx, &v.Request, name); err != nil {
			return t, false, err
		}
		if ok {
			return t, v.allows(&t), nil
		}
	}
	return t, false, nil
}

// sources are those that the view has.
func (v *View) sources() []Source {
	if v.Search {
		return []Source{finders(v.catalogue.Finders(v.Whole()))}
	}
	return v.catalogue.Sources
}

// finders are tools that are always there.
type finders []Tool

// Tools implements [Source].
func (f finders) Tools(context.Context, *Request) ([]Tool, error) { return f, nil }

// Find implements [Source].
func (f finders) Find(_ context.Context, _ *Request, name string) (t Tool, ok bool, err error) {
	i := slices.IndexFunc(f, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return t, false, nil
	}
	return f[i], true, nil
}
