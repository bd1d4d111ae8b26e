package tooldef

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// objectSchema checks a JSON Schema of an object, of valid compact JSON, and returns it without what must not be passed on. The
// error says what is wrong, behind the schema's name.
func objectSchema(raw []byte) ([]byte, error) {
	if !jsonrpc.IsObject(raw) {
		return nil, errors.New(`must be a JSON Schema of type "object"`)
	}
	types, objects := 0, 0
	jsonrpc.Members(raw, func(name, value []byte) {
		if string(name) == "type" {
			types++
			if string(jsonrpc.Text(value)) == "object" {
				objects++
			}
		}
	})
	if types == 0 || types != objects { // one member of two may be what another reader takes
		return nil, errors.New(`must be a JSON Schema of type "object"`)
	}
	f := filter{out: make([]byte, 0, len(raw))}
	f.schema(raw)
	return f.out, f.err
}

// keyword is what the value of a schema's keyword has to be.
type keyword uint8

const (
	data      keyword = iota // whatever it is; not looked into
	aSchema                  // a schema: an object, or true or false
	schemas                  // a list of schemas
	someOf                   // a schema or a list of schemas
	named                    // an object whose members are schemas
	words                    // a list of strings
	typeNames                // the name of a type, or a list of them
	list                     // a list
	prose                    // a text for readers, which is cleaned
	reference                // a reference within this schema
	dialect                  // the schema's dialect
	mark                     // left out
)

// keywords are those whose values are looked at; any other value is data.
var keywords = map[string]keyword{
	"type": typeNames, "enum": list, "required": words,
	"properties": named, "patternProperties": named, "$defs": named, "definitions": named, "dependentSchemas": named,
	"allOf": schemas, "anyOf": schemas, "oneOf": schemas, "prefixItems": schemas, "items": someOf,
	"additionalItems": aSchema, "additionalProperties": aSchema, "unevaluatedItems": aSchema, "unevaluatedProperties": aSchema,
	"contains": aSchema, "propertyNames": aSchema, "not": aSchema, "if": aSchema, "then": aSchema, "else": aSchema, "contentSchema": aSchema,
	"title": prose, "description": prose, "$comment": prose,
	"$ref": reference, "$dynamicRef": reference, "$recursiveRef": reference,
	"$schema": dialect,
	// Who checks the headers that this mark asks for has to know the tool. No gateway does.
	"x-mcp-header": mark,
}

var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// dialects are the names that readers know without looking them up.
var dialects = []string{
	"http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-07/schema",
	"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
}

// filter copies a schema. The first problem sticks.
type filter struct {
	out []byte
	err error
}

func (f *filter) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// schema copies one schema: an object, or true or false.
func (f *filter) schema(raw []byte) {
	if !jsonrpc.IsObject(raw) {
		if raw[0] != 't' && raw[0] != 'f' {
			f.fail("has %.40q where a schema belongs", raw)
		}
		f.out = append(f.out, raw...)
		return
	}
	f.object(raw, func(name string, value []byte) bool {
		is := keywords[name]
		if is == mark || is == dialect && !slices.Contains(dialects, strings.TrimSuffix(textOf(value), "#")) {
			return false
		}
		return f.member(name, func() { f.keyword(name, is, value) })
	})
}

// object copies an object, of which each copies one member or reports that it left it out.
func (f *filter) object(raw []byte, each func(name string, value []byte) bool) {
	f.out = append(f.out, '{')
	first := true
	jsonrpc.Members(raw, func(name, value []byte) {
		if f.err != nil {
			return
		}
		before := len(f.out)
		if !first {
			f.out = append(f.out, ',')
		}
		if each(string(name), value) {
			first = false
		} else {
			f.out = f.out[:before]
		}
	})
	f.out = append(f.out, '}')
}

func (f *filter) member(name string, value func()) bool {
	if len(name) > toolname.MaxBytes {
		f.fail("names a member of %d bytes, at most %d are allowed", len(name), toolname.MaxBytes)
	}
	if at := strings.IndexFunc(name, hides); at >= 0 {
		f.fail("names a member %q, which holds a character that hides text", name)
	}
	f.out = append(jsonrpc.AppendString(f.out, name), ':')
	value()
	return true
}

// keyword copies the value of a keyword.
func (f *filter) keyword(name string, is keyword, value []byte) {
	isList, isObject := value[0] == '[', value[0] == '{'
	switch {
	case is == aSchema, is == someOf && !isList:
		f.schema(value)
	case (is == schemas || is == someOf) && isList:
		f.schemas(value)
	case is == named && isObject:
		f.object(value, func(name string, value []byte) bool {
			return f.member(name, func() { f.schema(value) })
		})
	case is == prose && value[0] == '"':
		f.out = jsonrpc.AppendString(f.out, text(textOf(value), maxDescription))
	case is == reference && !strings.HasPrefix(textOf(value), "#"):
		f.fail("has the %s %.100q; only one that begins with # is followed", name, textOf(value))
	case is == typeNames && !each(value, func(v []byte) bool { return slices.Contains(types, textOf(v)) }),
		is == words && (!isList || !each(value, func(v []byte) bool { return v[0] == '"' })),
		(is == list || is == schemas) && !isList, is == named && !isObject, is == prose:
		f.fail("has a %s that is none: %.40q", name, value)
	default:
		f.out = append(f.out, value...)
	}
}

func (f *filter) schemas(raw []byte) {
	f.out = append(f.out, '[')
	first := true
	jsonrpc.Elements(raw, func(element []byte) {
		if f.err != nil {
			return
		}
		if !first {
			f.out = append(f.out, ',')
		}
		first = false
		f.schema(element)
	})
	f.out = append(f.out, ']')
}

// each reports whether a value, or each element of a list, is good.
func each(value []byte, good func([]byte) bool) bool {
	if value[0] != '[' {
		return good(value)
	}
	all := true
	jsonrpc.Elements(value, func(element []byte) { all = all && good(element) })
	return all
}
