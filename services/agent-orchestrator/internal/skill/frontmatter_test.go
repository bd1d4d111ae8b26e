package skill_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := skill.Parse([]byte("\ufeff---\r\nname: pdf-forms\r\ndescription: >\r\n  Fills in forms:\r\n  all kinds.\r\nversion: 1.10\r\ntags: a, b\r\n" +
		"triggers:\r\n  - fill in  the form\r\n  - 7\r\npriority: -3\r\nenabled: false\r\nlicense: &l MIT\r\nallowed-tools: Bash(git:*), Read\r\n" +
		"metadata:\r\n  author: x\r\n  n: [1, 2.5, null, true, *l]\r\n---\r\n\r\n# Body\r\n--- not the end\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	meta, _ := json.Marshal(got.Metadata)
	if got.Name != "pdf-forms" || got.Description != "Fills in forms: all kinds." || got.Version != "1.10" || *got.Priority != -3 || *got.Enabled ||
		!slices.Equal(got.Tags, []string{"a", "b"}) || !slices.Equal(got.Triggers, []string{"fill in the form", "7"}) ||
		string(meta) != `{"allowed-tools":"Bash(git:*), Read","license":"MIT","metadata":{"author":"x","n":[1,2.5,null,true,"MIT"]}}` ||
		got.Body != "# Body\r\n--- not the end\r\n" {
		t.Errorf("%+v %s", got, meta)
	}
	least, err := skill.Parse([]byte("---\nname: a\ndescription: b\n---"))
	if err != nil || least.Version != "1.0.0" || least.Enabled != nil || least.Priority != nil || least.Body != "" {
		t.Errorf("%+v, %v", least, err)
	}
}

func TestParseSaysWhereTheFaultIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]errs.Place{
		"# no front matter":                      {Line: 1},
		"":                                       {Line: 1},
		"---\nname: a\n":                         {Line: 3},
		"---\n---\n":                             {Line: 1},
		"---\nname: a\n---\n":                    {Line: 1, Key: "description"},
		"---\ndescription: a\n---\n":             {Line: 1, Key: "name"},
		"---\nname: a b\ndescription: x\n---\n":  {Line: 2, Key: "name"},
		"---\ndescription: x\nname: ../a\n---\n": {Line: 3, Key: "name"},
		"---\nname: a\ndescription: Use when: asked\n---\n":               {Line: 3, Key: "description"},
		"---\nname: a\ndescription: x\ntriggers: [a, b\ntags: [c]\n---\n": {Line: 4, Key: "triggers"},
		"---\nname: a\ndescription: \"x\ntags: [c]\n---\n":                {Line: 3, Key: "description"},
		"---\nname: a\ndescription: x\npriority: high\n---\n":             {Line: 4, Key: "priority"},
		"---\nname: a\ndescription: x\npriority: 1.5\n---\n":              {Line: 4, Key: "priority"},
		"---\nname: a\ndescription: x\nenabled: maybe\n---\n":             {Line: 4, Key: "enabled"},
		"---\nname: a\ndescription: x\ntags:\n  a: b\n---\n":              {Line: 4, Key: "tags"},
		"---\nname: a\ndescription: x\nname: b\n---\n":                    {Line: 4, Key: "name"},
		"---\nname: a\ndescription:\n  - x\n---\n":                        {Line: 3, Key: "description"},
		"---\nname: a\ndescription: x\nlicense: *nope\n---\n":             {Line: 4, Key: "license"},
		"---\nname: a\n\tdescription: x\n---\n":                           {Line: 3, Key: "name"},
		"---\n- a\n- b\n---\n":                                            {Line: 2},
		"---\nname: a\ndescription: x\xff\n---\n":                         {Line: 3},
	} {
		_, err := skill.Parse([]byte(text))
		var e *errs.Error
		if !errors.As(err, &e) || e.Reason != errs.SkillInvalid || e.At == nil || *e.At != want {
			t.Errorf("%q: %v %+v, want %+v", text, err, e, want)
		}
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	front := func(text string) string { return "---\nname: a\ndescription: x\n" + text + "\n---\n" }
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		n := string(rune('a' + i - 1))
		laughs += string(rune('a'+i)) + "0: &" + string(rune('a'+i)) + "0 [*" + n + "0,*" + n + "0,*" + n + "0,*" + n + "0,*" + n + "0,*" + n + "0,*" + n + "0]\n"
	}
	for name, text := range map[string]string{
		"aliases that grow":   front(laughs),
		"an alias of itself":  front("x: &x [*x]\ny: *x"),
		"deep nesting":        front("x: " + strings.Repeat("[", 30_000)),
		"a long front matter": front("x: " + strings.Repeat("y", 70<<10)),
		"a long description":  "---\nname: a\ndescription: " + strings.Repeat("é", 1025) + "\n---\n",
		"a long name":         "---\nname: " + strings.Repeat("a", 65) + "\ndescription: x\n---\n",
		"very many triggers":  front("triggers: [" + strings.Repeat("a,", 300) + "a]"),
		"a trigger of a page": front("triggers: [" + strings.Repeat("a", 300) + "]"),
		"a control character": front("author: \"a\\u0007b\""),
	} {
		if _, err := skill.Parse([]byte(text)); !errors.Is(err, errs.SkillInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := skill.Parse([]byte("---\nname: " + strings.Repeat("a", 64) + "\ndescription: " + strings.Repeat("é", 1024) + "\n---\n")); err != nil {
		t.Errorf("the longest: %v", err)
	}
	if _, err := skill.Parse(make([]byte, skill.MaxBytes+1)); !errors.Is(err, errs.SkillTooLarge) {
		t.Errorf("too many bytes: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nname: a\ndescription: b\ntags: [x, 'y']\nm: {a: &x [1], b: *x}\n---\nbody"))
	f.Add([]byte("---\nname: \"a\ndescription: >\n  b\n? [x]\n: !!binary y\n---\n"))
	f.Add([]byte("---\n<<: *a\n&a b: |2-\n  c\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := skill.Parse(data)
		var e *errs.Error
		switch {
		case err != nil && !errors.As(err, &e):
			t.Errorf("an error that is not ours: %v", err)
		case err == nil && (!skill.ValidName(text.Name) || text.Description == ""):
			t.Errorf("%+v", text)
		case err == nil:
			if _, err := json.Marshal(text.About); err != nil {
				t.Error(err)
			}
		}
	})
}
