package jsonrpc

import (
	"strconv"
	"strings"
)

// PathAt returns the name of the value at a byte of a validated document, such as "tools[0].headers"; "" for the document
// itself. Between two values it is that of the next. The path is put together once the value is found: what the document
// nests costs nothing before.
func PathAt(document []byte, at int) string {
	d := descent{document: document, at: at}
	for start := space(document, 0); d.into(start); start = d.found {
	}
	return d.path()
}

// descent goes from a value to the one inside it that is meant, and so on.
type descent struct {
	document []byte
	at       int
	found    int    // where the value starts that was found last
	steps    []step // at most MaxDepth
}

// step is one level: a member's name, or, where that is nil, a place in a list.
type step struct {
	name  []byte
	index int
}

// into looks at what is inside the value that starts at a byte, and reports whether something of it was meant.
func (d *descent) into(start int) (found bool) {
	if d.at <= start || start >= len(d.document) {
		return false
	}
	inner := func(s step, from, to int) (more bool) {
		if to <= d.at {
			return true
		}
		d.steps, d.found, found = append(d.steps, s), from, true
		return false
	}
	eachMember(d.document, start, func(name []byte, from, to int) bool { return inner(step{name: name}, from, to) })
	index := 0
	eachElement(d.document, start, func(from, to int) bool {
		index++
		return inner(step{index: index - 1}, from, to)
	})
	return found
}

func (d *descent) path() string {
	size := 0
	for _, s := range d.steps {
		size += len(s.name) + len("[12345]")
	}
	var b strings.Builder
	b.Grow(size)
	for i, s := range d.steps {
		if s.name == nil {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.Write(s.name)
	}
	return b.String()
}
