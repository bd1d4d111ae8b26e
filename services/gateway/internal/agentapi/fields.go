package agentapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/edge"
)

// object is a JSON object of a request. Its methods read members by their exact names and remember the first that has a
// wrong type; those that are absent or null are zero, those that nobody reads are ignored.
type object struct {
	path    string // how the client calls it, with a dot behind it: "llm_config."
	members map[string]json.RawMessage
	wrong   *error // shared with the objects inside
}

// parse reads a request's body.
func parse(body []byte) (object, error) {
	o := object{wrong: new(error)}
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(body, &o.members); {
	case err == nil && o.members != nil:
		return o, nil
	case asSyntax(err, &syntax):
		return o, &edge.BadRequest{Message: fmt.Sprintf("the body is not JSON: %v at byte %d", syntax, syntax.Offset)}
	}
	return o, &edge.BadRequest{Message: "the body must be a JSON object"}
}

func asSyntax(err error, into **json.SyntaxError) bool {
	s, ok := err.(*json.SyntaxError) //nolint:errorlint // Unmarshal returns it unwrapped
	*into = s
	return ok
}

// fail notes what is wrong with a member.
func (o object) fail(name, problem string) {
	if *o.wrong == nil {
		*o.wrong = &edge.BadRequest{Message: o.path + name + " " + problem}
	}
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// find returns the first member of these names that is there.
func (o object) find(names ...string) (string, json.RawMessage) {
	for _, name := range names {
		if raw := o.members[name]; !isNull(raw) {
			return name, raw
		}
	}
	return names[0], nil
}

func (o object) text(names ...string) (s string) {
	name, raw := o.find(names...)
	if raw != nil && json.Unmarshal(raw, &s) != nil {
		o.fail(name, "must be a string")
	}
	return s
}

// flag reads true or false; what is not there is false.
func (o object) flag(name string) (b bool) {
	_, raw := o.find(name)
	if raw != nil && json.Unmarshal(raw, &b) != nil {
		o.fail(name, "must be true or false")
	}
	return b
}

func (o object) number(names ...string) *float64 {
	name, raw := o.find(names...)
	if raw == nil {
		return nil
	}
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		o.fail(name, "must be a number")
	}
	return &n
}

// count reads an integer that is not negative and fits 32 bits.
func (o object) count(names ...string) int32 {
	name, raw := o.find(names...)
	if raw == nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
		o.fail(name, fmt.Sprintf("must be an integer from 0 to %d", math.MaxInt32))
		return 0
	}
	return int32(n)
}

// object reads an object; one that is not there has no members.
func (o object) object(names ...string) object {
	name, raw := o.find(names...)
	in := object{path: o.path + name + ".", wrong: o.wrong}
	if raw != nil && json.Unmarshal(raw, &in.members) != nil {
		o.fail(name, "must be an object")
	}
	return in
}

// raw reads an object as it is written; nil where there is none.
func (o object) raw(names ...string) []byte {
	name, raw := o.find(names...)
	if raw != nil && raw[0] != '{' {
		o.fail(name, "must be an object")
	}
	return bytes.Clone(raw)
}

// list reads a list of objects.
func (o object) list(name string) []object {
	_, raw := o.find(name)
	if raw == nil {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		o.fail(name, "must be a list")
		return nil
	}
	list := make([]object, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", name, i)
		list[i] = object{path: o.path + at + ".", wrong: o.wrong}
		if isNull(item) || json.Unmarshal(item, &list[i].members) != nil {
			o.fail(at, "must be an object")
		}
	}
	return list
}

func (o object) texts(name string) (list []string) {
	if _, raw := o.find(name); raw != nil && json.Unmarshal(raw, &list) != nil {
		o.fail(name, "must be a list of strings")
	}
	return list
}

func (o object) textsByName(name string) (m map[string]string) {
	if _, raw := o.find(name); raw != nil && json.Unmarshal(raw, &m) != nil {
		o.fail(name, "must be an object of strings")
	}
	return m
}
