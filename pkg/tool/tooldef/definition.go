package tooldef

import (
	"encoding/json"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Definition describes a tool, as a tool object of MCP does. It is shared, and not to be changed.
type Definition struct {
	Name string
	// Title is a name for people; "" for none.
	Title       string
	Description string
	// InputSchema is a JSON Schema whose type is object, in compact JSON.
	InputSchema json.RawMessage
	// OutputSchema is that of a result's structuredContent; nil for none.
	OutputSchema json.RawMessage
	Annotations  Annotations
	Icons        []Icon
}

// Annotations are what a tool's owner says that it does; a nil hint says nothing.
type Annotations struct {
	Title                                                        string
	ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool
}

// Icon is a picture of a tool.
type Icon struct {
	Source   string   `json:"src"` // a URL of scheme https or data
	MIMEType string   `json:"mimeType"`
	Sizes    []string `json:"sizes"`
	Theme    string   `json:"theme"` // light, dark or ""
}

// ReadOnly reports whether the definition claims that the tool changes nothing.
func (d Definition) ReadOnly() bool {
	return d.Annotations.ReadOnlyHint != nil && *d.Annotations.ReadOnlyHint
}

// Append appends the tool object to b, in compact JSON.
func (d Definition) Append(b []byte) []byte {
	return append(d.members(jsonrpc.AppendString(append(b, `{"name":`...), d.Name)), '}')
}

// AppendMembers appends the members of the tool object but for its name, without the braces: for who gives the tool another name.
func (d Definition) AppendMembers(b []byte) []byte {
	at := len(b)
	b = d.members(b)
	return append(b[:at], b[at+1:]...)
}

// members appends the members but for the name, each with a comma before it.
func (d Definition) members(b []byte) []byte {
	b = appendText(b, "title", d.Title)
	b = appendText(b, "description", d.Description)
	b = append(append(b, `,"inputSchema":`...), d.InputSchema...)
	if d.OutputSchema != nil {
		b = append(append(b, `,"outputSchema":`...), d.OutputSchema...)
	}
	return appendIcons(d.Annotations.append(b), d.Icons)
}

// MarshalJSON implements [json.Marshaler].
func (d Definition) MarshalJSON() ([]byte, error) { return d.Append(nil), nil }

func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return jsonrpc.AppendString(b, text)
}

func (a Annotations) append(b []byte) []byte {
	inner := appendText(nil, "title", a.Title)
	for _, hint := range []struct {
		name  string
		value *bool
	}{
		{"readOnlyHint", a.ReadOnlyHint}, {"destructiveHint", a.DestructiveHint},
		{"idempotentHint", a.IdempotentHint}, {"openWorldHint", a.OpenWorldHint},
	} {
		if hint.value != nil {
			inner = append(append(append(inner, `,"`...), hint.name...), `":`...)
			inner = strconv.AppendBool(inner, *hint.value)
		}
	}
	if inner == nil {
		return b
	}
	return append(append(append(b, `,"annotations":{`...), inner[1:]...), '}')
}

func appendIcons(b []byte, icons []Icon) []byte {
	for i, icon := range icons {
		if i == 0 {
			b = append(b, `,"icons":[{"src":`...)
		} else {
			b = append(b, `,{"src":`...)
		}
		b = jsonrpc.AppendString(b, icon.Source)
		b = appendText(b, "mimeType", icon.MIMEType)
		for j, size := range icon.Sizes {
			if j == 0 {
				b = append(b, `,"sizes":[`...)
			} else {
				b = append(b, ',')
			}
			b = jsonrpc.AppendString(b, size)
		}
		if len(icon.Sizes) > 0 {
			b = append(b, ']')
		}
		b = append(appendText(b, "theme", icon.Theme), '}')
	}
	if len(icons) > 0 {
		b = append(b, ']')
	}
	return b
}
