package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Fault is one entry of a schedule.
type Fault struct {
	Name string
	// Kind says what it happens to, for tables.
	Kind string
	// Do and Undo are shell commands; an empty Undo does nothing.
	Do, Undo string
	// Hold is the time between them, Settle the time after.
	Hold, Settle time.Duration
	// Recover is the time, from the beginning of the fault, after which all calls must be answered promptly again; 0 means
	// that this is not checked.
	Recover time.Duration
	// Lossless says that every call has to be answered in spite of it, LosslessRuns also every tool call of a run.
	Lossless, LosslessRuns bool
}

// Read reads a schedule. Its errors name the line and the key.
func Read(path string) ([]Fault, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, raw)
}

// parse reads a list of mappings. Each problem is told, with its place.
func parse(path string, raw []byte) ([]Fault, error) {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is no fault in it", path)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: holds more than one document", path)
	}
	r := &reader{path: path, names: map[string]int{}}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		r.problem(list.Line, "must be a list of faults, each beginning with \"- name:\"")
		return nil, errors.Join(r.problems...)
	}
	var out []Fault
	for _, item := range list.Content {
		out = append(out, r.fault(item))
	}
	if len(out) == 0 {
		r.problem(list.Line, "there is no fault in it")
	}
	return out, errors.Join(r.problems...)
}

type reader struct {
	path     string
	names    map[string]int
	problems []error
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s:%d: %s", r.path, line, fmt.Sprintf(format, args...)))
}

var keys = []string{"name", "kind", "do", "hold", "undo", "settle", "recover", "lossless"}

// fault reads one mapping.
func (r *reader) fault(item *yaml.Node) (f Fault) {
	if item.Kind != yaml.MappingNode {
		r.problem(item.Line, "a fault must have the keys %s", strings.Join(keys, ", "))
		return f
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		switch first, twice := seen[key.Value]; {
		case !slices.Contains(keys, key.Value):
			r.problem(key.Line, "key %q is not known; there are %s", key.Value, strings.Join(keys, ", "))
			continue
		case twice:
			r.problem(key.Line, "key %q stands here and on line %d", key.Value, first)
			continue
		case value.Kind != yaml.ScalarNode:
			r.problem(value.Line, "%s must be a plain value", key.Value)
		default:
			r.set(&f, key.Value, value)
		}
		seen[key.Value] = key.Line
	}
	for _, key := range []string{"name", "do"} {
		if seen[key] == 0 {
			r.problem(item.Line, "key %q is missing", key)
		}
	}
	if first := r.names[f.Name]; first > 0 && f.Name != "" {
		r.problem(item.Line, "name %q stands here and on line %d", f.Name, first)
	}
	r.names[f.Name] = item.Line
	return f
}

// set sets one key.
func (r *reader) set(f *Fault, key string, value *yaml.Node) {
	switch key {
	case "name", "do":
		if strings.TrimSpace(value.Value) == "" {
			r.problem(value.Line, "%s must not be empty", key)
		}
	}
	switch key {
	case "name":
		f.Name = value.Value
	case "kind":
		f.Kind = value.Value
	case "do":
		f.Do = value.Value
	case "undo":
		f.Undo = value.Value
	case "hold":
		f.Hold = r.duration(key, value)
	case "settle":
		f.Settle = r.duration(key, value)
	case "recover":
		f.Recover = r.duration(key, value)
	case "lossless":
		if value.Tag != "!!bool" && value.Value != "calls" {
			r.problem(value.Line, "lossless is %q, must be true, calls (those of runs are not) or false", value.Value)
		}
		f.LosslessRuns = value.Value == "true"
		f.Lossless = f.LosslessRuns || value.Value == "calls"
	}
}

func (r *reader) duration(key string, value *yaml.Node) time.Duration {
	d, err := time.ParseDuration(value.Value)
	if err != nil || d < 0 {
		r.problem(value.Line, "%s is %q, must be a duration, such as 500ms, 10s or 2m", key, value.Value)
	}
	return d
}
