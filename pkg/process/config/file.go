package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// applyFile sets what the YAML file at path says; from is what named the file.
func (s *schema) applyFile(path, from string) []error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return []error{fmt.Errorf("%s: %w", from, err)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // an empty file says nothing
	} else if err != nil {
		return []error{fmt.Errorf("%s: %w", path, err)}
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return []error{fmt.Errorf("%s: holds more than one document", path)}
	}
	r := &fileReader{path: path, keys: map[string]fileKey{}, seen: map[string]int{}}
	for _, f := range s.fields {
		r.add(f.path, fileKey{field: f})
		if f.secret {
			r.add(f.path+fileFlag, fileKey{field: f, fromFile: true})
		}
	}
	r.read(doc.Content[0], "")
	return r.problems
}

// fileReader walks a document. Anchors and merge keys are not followed: a configuration of this size does not need
// them, and an alias can be made to explode.
type fileReader struct {
	path     string
	keys     map[string]fileKey
	names    []string // of keys, for suggestions
	seen     map[string]int
	problems []error
}

// fileKey is what a key stands for: a field, a file that holds a field's value, or, with neither, a group.
type fileKey struct {
	field    *field
	fromFile bool
}

func (r *fileReader) add(path string, key fileKey) {
	r.keys[path] = key
	r.names = append(r.names, path)
	for i, c := range path {
		if c == '.' {
			r.keys[path[:i]] = fileKey{}
		}
	}
}

func (r *fileReader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s:%d: %w", r.path, line, fmt.Errorf(format, args...)))
}

func (r *fileReader) read(node *yaml.Node, group string) {
	if node.Tag == "!!null" {
		return
	}
	if node.Kind != yaml.MappingNode {
		r.problem(node.Line, "%s is not a set of keys", describe(group))
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		path := group + name.Value
		key, known := r.keys[path]
		if !known {
			r.problem(name.Line, "key %q is not known%s", path, didYouMean("", path, r.names))
			continue
		}
		if first, twice := r.seen[path]; twice {
			r.problem(name.Line, "key %q stands here and on line %d", path, first)
			continue
		}
		r.seen[path] = name.Line
		if key.field == nil {
			r.read(value, path+".")
			continue
		}
		r.give(key, path, value)
	}
}

func (r *fileReader) give(key fileKey, path string, value *yaml.Node) {
	where := fmt.Sprintf("%s:%d: %s", r.path, value.Line, path)
	isList := key.field.value.Kind() == reflect.Slice
	var err error
	switch {
	case value.Tag == "!!null": // "key:" alone says nothing
		return
	case value.Kind == yaml.SequenceNode && isList:
		items := make([]string, 0, len(value.Content))
		for _, item := range value.Content {
			if item.Kind != yaml.ScalarNode {
				r.problem(item.Line, "%s is not a list of plain values", path)
				return
			}
			items = append(items, item.Value)
		}
		key.field.set = true
		setList(key.field.value, items)
	case value.Kind != yaml.ScalarNode:
		r.problem(value.Line, "%s is not a plain value", path)
	case key.fromFile:
		err = key.field.giveFromFile(where, value.Value)
	default:
		err = key.field.give(where, value.Value)
	}
	if err != nil {
		r.problems = append(r.problems, err)
	}
}

func describe(group string) string {
	if group == "" {
		return "the file"
	}
	return strings.TrimSuffix(group, ".")
}
