package skill

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	maxValues = 10_000 // of a front matter, with what aliases repeat
	maxDepth  = 20
	// firstLine is the line of the file in which the front matter begins.
	firstLine = 2
)

// entry is one key of the front matter with its value.
type entry struct {
	key   string
	line  int // of the file
	value ast.Node
}

func (e entry) wrong(format string, args ...any) error {
	return at(e.line, e.key, e.key+" "+format, args...)
}

// parseFront reads the YAML of a front matter.
func parseFront(front string) ([]entry, error) {
	front = strings.ReplaceAll(front, "\r\n", "\n")
	if nesting(front) > 4*maxDepth {
		return nil, at(firstLine, "", "the front matter is nested too deep")
	}
	file, err := parser.ParseBytes([]byte(front), 0)
	if err != nil {
		line, message := fault(err)
		return nil, locate(front, line, message)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, at(1, "", "the front matter is empty: name and description are required")
	}
	var values []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		values = body.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{body}
	default:
		return nil, at(firstLine, "", "the front matter must be keys with values, such as name: my-skill")
	}
	entries := make([]entry, 0, len(values))
	for _, v := range values {
		token := v.Key.GetToken()
		entries = append(entries, entry{token.Value, token.Position.Line + firstLine - 1, v.Value})
	}
	return entries, nil
}

// nesting is the most brackets that are open at one time, those in texts included: the parser descends into each.
func nesting(text string) (deepest int) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// fault is the line of the YAML, from 1, in which the parser saw that something is wrong, and what.
func fault(err error) (line int, message string) {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil && syntax.Token.Position != nil {
		return syntax.Token.Position.Line, syntax.Message
	}
	message, _, _ = strings.Cut(err.Error(), "\n")
	return 1, message
}

// locate says where the fault is: the parser may see only behind it that a bracket or a quote does not end. So the first key
// whose own lines cannot be parsed has it, if there is one.
func locate(front string, line int, message string) error {
	lines := strings.Split(front, "\n")
	key := ""
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && !beginsKey(lines[to]) {
			to++
		}
		name := keyOf(lines[from])
		if _, err := parser.ParseBytes([]byte(strings.Join(lines[from:to], "\n")), 0); err != nil {
			within, said := fault(err)
			return at(min(from+within, to)+firstLine-1, name, "%s", said)
		}
		if line > from && line <= to {
			key = name
		}
		from = to
	}
	return at(line+firstLine-1, key, "%s", message)
}

// beginsKey reports whether a line begins a key of the outermost mapping.
func beginsKey(line string) bool {
	return line != "" && strings.IndexByte(" \t-#]}\r", line[0]) < 0 && strings.Contains(line, ":")
}

func keyOf(line string) string {
	key, _, found := strings.Cut(line, ":")
	if !found {
		return ""
	}
	return cut(strings.Trim(strings.TrimSpace(key), `"'`))
}

// reader reads values of one front matter. What aliases stand for is read as often as they are there, within bounds.
type reader struct {
	anchors map[string]ast.Node
	left    int // values that may still be read
}

// plain returns a node without anchor, alias and tag.
func (r *reader) plain(e entry, node ast.Node) (ast.Node, error) {
	for range maxDepth {
		switch n := node.(type) {
		case *ast.AnchorNode:
			r.anchors[n.Name.String()] = n.Value
			node = n.Value
		case *ast.AliasNode:
			to, ok := r.anchors[n.Value.String()]
			if !ok {
				return nil, e.wrong("refers to &%s, which is not there before", cut(n.Value.String()))
			}
			node = to
		case *ast.TagNode:
			node = n.Value
		default:
			return node, nil
		}
	}
	return nil, e.wrong("is nested too deep")
}

// scalar returns a value that is one word or text, as it was written.
func (r *reader) scalar(e entry, node ast.Node) (text string, isText bool, err error) {
	node, err = r.plain(e, node)
	if err != nil {
		return "", false, err
	}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return "", true, nil
	case *ast.StringNode:
		return n.Value, true, nil
	case *ast.LiteralNode:
		return n.Value.Value, true, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, false, nil
	}
	return "", false, e.wrong("must be a text")
}

func (r *reader) text(e entry) (string, error) {
	text, _, err := r.scalar(e, e.value)
	return text, err
}

func (r *reader) short(e entry) (string, error) {
	text, err := r.text(e)
	if text = strings.TrimSpace(text); err == nil && (utf8.RuneCountInString(text) > maxShort || !printable(text)) {
		err = e.wrong("must be one line of at most %d characters", maxShort)
	}
	return text, err
}

// words reads a list of texts, or one text with commas, as some write it.
func (r *reader) words(e entry) ([]string, error) {
	node, err := r.plain(e, e.value)
	if err != nil {
		return nil, err
	}
	var list []string
	if seq, ok := node.(*ast.SequenceNode); ok {
		for _, each := range seq.Values {
			word, _, err := r.scalar(e, each)
			if err != nil {
				return nil, e.wrong("must be a list of texts")
			}
			list = append(list, word)
		}
	} else {
		all, _, err := r.scalar(e, node)
		if err != nil {
			return nil, e.wrong("must be a list of texts")
		}
		list = strings.Split(all, ",")
	}
	var words []string
	for _, word := range list {
		if word = strings.Join(strings.Fields(word), " "); word == "" {
			continue
		}
		if utf8.RuneCountInString(word) > maxWord || !printable(word) {
			return nil, e.wrong("has an entry that is not one line of at most %d characters", maxWord)
		}
		words = append(words, word)
	}
	if len(words) > maxWords {
		return nil, e.wrong("has %d entries, at most %d are allowed", len(words), maxWords)
	}
	return words, nil
}

func (r *reader) number(e entry) (int, error) {
	text, isText, err := r.scalar(e, e.value)
	if err != nil {
		return 0, e.wrong("must be a whole number")
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if isText || err != nil {
		return 0, e.wrong("must be a whole number from %d to %d", math.MinInt32, math.MaxInt32)
	}
	return int(n), nil
}

func (r *reader) boolean(e entry) (bool, error) {
	node, err := r.plain(e, e.value)
	if err != nil {
		return false, err
	}
	if b, ok := node.(*ast.BoolNode); ok {
		return b.Value, nil
	}
	return false, e.wrong("must be true or false")
}

// value reads any value as JSON has it.
func (r *reader) value(e entry, node ast.Node, depth int) (any, error) {
	if r.left--; r.left < 0 || depth > maxDepth {
		return nil, e.wrong("has too many values, or is nested too deep")
	}
	node, err := r.plain(e, node)
	if err != nil {
		return nil, err
	}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		if f, err := strconv.ParseFloat(n.GetToken().Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, nil
		}
		return n.GetToken().Value, nil
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, each := range n.Values {
			v, err := r.value(e, each, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case *ast.MappingNode:
		return r.object(e, n.Values, depth)
	case *ast.MappingValueNode:
		return r.object(e, []*ast.MappingValueNode{n}, depth)
	}
	text, _, err := r.scalar(e, node)
	return text, err
}

func (r *reader) object(e entry, values []*ast.MappingValueNode, depth int) (any, error) {
	object := make(map[string]any, len(values))
	for _, each := range values {
		v, err := r.value(e, each.Value, depth+1)
		if err != nil {
			return nil, err
		}
		object[each.Key.GetToken().Value] = v
	}
	return object, nil
}
