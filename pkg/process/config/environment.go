package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// environment is a set of variables; empty ones are not in it.
type environment struct {
	vars  map[string]string
	order []string // sorted, so that messages come in the same order every time
}

func newEnvironment(environ []string) environment {
	env := environment{vars: make(map[string]string, len(environ))}
	for _, entry := range environ {
		if name, text, _ := strings.Cut(entry, "="); name != "" && text != "" {
			env.vars[name] = text
			env.order = append(env.order, name)
		}
	}
	slices.Sort(env.order)
	return env
}

// serviceLink matches the variables that Kubernetes sets in every pod for every service of the namespace: a release
// named "hecaton" would otherwise fail on its own services.
var serviceLink = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

func (s *schema) applyEnv(env environment, prefix string) []error {
	var problems []error
	known := map[string]bool{prefix + "CONFIG": true}
	candidates := []string{prefix + "CONFIG"}
	for _, f := range s.fields {
		if f.env == "" {
			continue
		}
		known[f.env] = true
		candidates = append(candidates, f.env)
		text, given := env.vars[f.env]
		if f.secret {
			known[f.env+fileVar] = true
			candidates = append(candidates, f.env+fileVar)
			if path, too := env.vars[f.env+fileVar]; too {
				if given {
					problems = append(problems, fmt.Errorf("environment %s and %s are both set; keep one", f.env, f.env+fileVar))
				} else if err := f.giveFromFile("environment "+f.env+fileVar, path); err != nil {
					problems = append(problems, err)
				}
				continue
			}
		}
		if given {
			if err := f.give("environment "+f.env, text); err != nil {
				problems = append(problems, err)
			}
		}
	}
	if prefix == "" {
		return problems
	}
	for _, name := range env.order {
		if strings.HasPrefix(name, prefix) && !known[name] && !serviceLink.MatchString(name) {
			problems = append(problems, fmt.Errorf("environment %s is not known%s", name, didYouMean("", name, candidates)))
		}
	}
	return problems
}
