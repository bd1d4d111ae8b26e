package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// arguments is a command line, taken apart.
type arguments struct {
	help       bool
	file       string // of --config
	values     []flagValue
	positional []string
	problems   []error
}

type flagValue struct {
	field    *field
	text     string
	fromFile bool // the flag was --name-file
}

// parseArgs reads --name value, --name=value, --flag for booleans, and "--", which ends the flags. One dash is as good
// as two. Nothing is set yet: --help must win over every mistake.
func parseArgs(s *schema, args []string) *arguments {
	out := &arguments{}
	byName, candidates := s.flagNames()
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			out.positional = append(out.positional, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			out.positional = append(out.positional, arg)
			continue
		}
		name, text, hasText := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if name == "help" || name == "h" {
			out.help = true
			continue
		}
		target, known := byName[name]
		if !known {
			out.problems = append(out.problems, fmt.Errorf("flag --%s is not known%s", name, didYouMean("--", name, candidates)))
			if !hasText && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++ // most likely its value: one mistake, one message
			}
			continue
		}
		if !hasText {
			switch {
			case target.field != nil && target.field.value.Kind() == reflect.Bool:
				text = "true"
			case i+1 < len(args):
				i++
				text = args[i]
			default:
				out.problems = append(out.problems, fmt.Errorf("flag --%s needs a value", name))
				continue
			}
		}
		if target.field == nil {
			out.file = text
			continue
		}
		target.text = text
		out.values = append(out.values, target)
	}
	return out
}

// flagNames returns every flag, where a nil field stands for --config, and their names for suggestions.
func (s *schema) flagNames() (map[string]flagValue, []string) {
	byName := map[string]flagValue{"config": {}}
	candidates := []string{"config", "help"}
	for _, f := range s.fields {
		byName[f.flag] = flagValue{field: f}
		candidates = append(candidates, f.flag)
		if f.secret {
			byName[f.flag+fileFlag] = flagValue{field: f, fromFile: true}
			candidates = append(candidates, f.flag+fileFlag)
		}
	}
	return byName, candidates
}

const fileFlag, fileVar = "-file", "_FILE"

// exposed returns the flags that put a secret onto the command line, where every program of the machine can read it. A
// server's address without credentials is not a secret.
func exposed(values []flagValue) (flags []string) {
	for _, v := range values {
		if v.field.secret && !v.fromFile && !harmless(v.text) {
			flags = append(flags, v.field.flag)
		}
	}
	return flags
}

// harmless reports whether text is one or more URLs that hold no user, password or parameter, or nothing.
func harmless(text string) bool {
	for part := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(part)
		if err != nil || part != "" && u.Scheme == "" || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return false
		}
	}
	return true
}

func (s *schema) applyFlags(values []flagValue) []error {
	var problems []error
	lists := map[*field][]string{} // --origin a --origin b is both
	given := map[*field]string{}
	for _, v := range values {
		where := "flag --" + v.field.flag
		if v.fromFile {
			where += fileFlag
		}
		if before, twice := given[v.field]; twice && v.field.value.Kind() != reflect.Slice {
			problems = append(problems, fmt.Errorf("%s: given twice, also as %s", where, before))
			continue
		}
		given[v.field] = where
		var err error
		switch {
		case v.fromFile:
			err = v.field.giveFromFile(where, v.text)
		case v.field.value.Kind() == reflect.Slice:
			lists[v.field] = append(lists[v.field], v.text)
			err = v.field.give(where, strings.Join(lists[v.field], ","))
		default:
			err = v.field.give(where, v.text)
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}
