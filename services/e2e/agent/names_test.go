package agent_test

import (
	"fmt"
	"regexp"
	"strings"
)

// names gives names to what is different each time: the first session is $session, the second $session2.
type names struct {
	values map[string]string // by name, without the dollar
	known  map[string]string // the other way round
	counts map[string]int
}

// given are pairs of a name and its value.
func newNames(given ...string) names {
	n := names{values: map[string]string{}, known: map[string]string{}, counts: map[string]int{}}
	for i := 0; i < len(given); i += 2 {
		n.add(given[i], given[i+1])
	}
	return n
}

func (n names) add(name, value string) { n.values[name], n.known[value] = value, name }

var (
	various = regexp.MustCompile(`\b(?:session_[0-9a-f]{12}|run_[0-9a-f]{24}|msg_[0-9a-f]{24}|int_[0-9a-f]{24}|tool_[0-9a-f]+|[0-9a-f]{64}|` +
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|user[0-9]+x)\b|http://127\.0\.0\.1:[0-9]+/[a-z0-9]+`)
	moment   = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`)
	variable = regexp.MustCompile(`\$[a-z]+[0-9]*`)
)

func kindOf(value string) string {
	kind, _, ok := strings.Cut(value, "_")
	switch {
	case ok && kind == "msg":
		return "message"
	case ok && kind == "int":
		return "interrupt"
	case ok:
		return kind
	case len(value) == 64:
		return "digest"
	}
	return "id"
}

// name puts names in the place of values.
func (s *stage) name(text string) string {
	n := s.names
	text = moment.ReplaceAllString(text, `"$$time"`)
	return various.ReplaceAllStringFunc(text, func(value string) string {
		if _, ok := n.known[value]; !ok {
			if strings.HasPrefix(value, "http") || strings.HasPrefix(value, "user") {
				return value
			}
			kind := kindOf(value)
			n.counts[kind]++
			name := kind
			if n.counts[kind] > 1 {
				name = fmt.Sprint(kind, n.counts[kind])
			}
			n.known[value], n.values[name] = name, value
		}
		return "$" + n.known[value]
	})
}

// fill puts values in the place of names.
func (s *stage) fill(text string) string {
	s.Helper()
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := s.names.values[name[1:]]
		if !ok {
			s.Fatalf("%s has no value yet in %s", name, text)
		}
		return value
	})
}
