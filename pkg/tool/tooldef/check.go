package tooldef

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Bounds of one definition, in bytes. It nests no deeper than [jsonrpc.MaxRequestDepth].
const (
	// MaxBytes is the length of the longest definition, in compact JSON.
	MaxBytes = 32 << 10
	// maxTitle and maxDescription bound texts, which are cut.
	maxTitle       = 256
	maxDescription = 4 << 10
	// maxIcons and maxIcon bound a definition's icons: their number, and the bytes of each one's address.
	maxIcons = 4
	maxIcon  = 8 << 10
)

// Check reads the tool object of a stranger. It keeps what MCP knows, cleans texts and cuts those that are too long. The error
// says what is wrong in the words of a sentence that begins with the tool's name: "inputSchema must be ...". What is wrong with
// something that a tool can do without, such as outputSchema or an icon, costs that alone.
func Check(raw []byte) (Definition, error) {
	if len(raw) > 2*MaxBytes { // with some room for blanks
		return Definition{}, fmt.Errorf("has %d bytes, at most %d are allowed", len(raw), MaxBytes)
	}
	if err := jsonrpc.ValidRequest(raw); err != nil {
		return Definition{}, fmt.Errorf("is not JSON: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return Definition{}, fmt.Errorf("is not JSON: %w", err)
	}
	if compact.Len() > MaxBytes {
		return Definition{}, fmt.Errorf("has %d bytes, at most %d are allowed", compact.Len(), MaxBytes)
	}
	d, err := read(compact.Bytes())
	if err != nil {
		return Definition{}, err
	}
	if err := toolname.Check(d.Name); err != nil {
		return Definition{}, err
	}
	if d.InputSchema, err = objectSchema(d.InputSchema); err != nil {
		return Definition{}, fmt.Errorf("inputSchema %w", err)
	}
	if d.OutputSchema != nil {
		if d.OutputSchema, err = objectSchema(d.OutputSchema); err != nil {
			d.OutputSchema = nil
		}
	}
	d.Title, d.Annotations.Title = line(d.Title, maxTitle), line(d.Annotations.Title, maxTitle)
	d.Description = text(d.Description, maxDescription)
	d.Icons = slices.DeleteFunc(d.Icons, func(i Icon) bool { return !i.allowed() })
	d.Icons = d.Icons[:min(len(d.Icons), maxIcons)]
	return d, nil
}

var errNoObject = errors.New("must be an object")

// read reads a tool object of compact JSON as it stands. Members of a wrong type that a tool can do without are left out.
func read(object []byte) (d Definition, err error) {
	if !jsonrpc.IsObject(object) {
		return d, errNoObject
	}
	members := jsonrpc.RawMembers(object, "name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons")
	d = Definition{
		Name: textOf(members["name"]), Title: textOf(members["title"]), Description: textOf(members["description"]),
		InputSchema: members["inputSchema"], Annotations: readAnnotations(members["annotations"]), Icons: readIcons(members["icons"]),
	}
	if !jsonrpc.IsNull(members["outputSchema"]) {
		d.OutputSchema = members["outputSchema"]
	}
	if d.Name == "" {
		return d, errors.New("name must be a string that is not empty")
	}
	return d, nil
}

// textOf is the text of a member; "" where it is missing or no string.
func textOf(raw []byte) string { return string(jsonrpc.Text(raw)) }

func readAnnotations(raw []byte) (a Annotations) {
	if !jsonrpc.IsObject(raw) {
		return a
	}
	hint := func(raw []byte) *bool {
		yes := string(raw) == "true"
		if !yes && string(raw) != "false" {
			return nil
		}
		return &yes
	}
	m := jsonrpc.RawMembers(raw, "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
	return Annotations{
		Title: textOf(m["title"]), ReadOnlyHint: hint(m["readOnlyHint"]), DestructiveHint: hint(m["destructiveHint"]),
		IdempotentHint: hint(m["idempotentHint"]), OpenWorldHint: hint(m["openWorldHint"]),
	}
}

func readIcons(raw []byte) (icons []Icon) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	jsonrpc.Elements(raw, func(element []byte) {
		var icon Icon
		if len(icons) < maxIcons && jsonrpc.Decode(element, &icon) == nil {
			icons = append(icons, icon)
		}
	})
	return icons
}

// allowed reports whether clients may be given an icon: it is small, and opening its address does no more than to show a
// picture.
func (i Icon) allowed() bool {
	short := len(i.MIMEType) <= maxTitle && len(i.Sizes) <= maxIcons && !slices.ContainsFunc(i.Sizes, func(s string) bool { return len(s) > 16 })
	source := strings.HasPrefix(i.Source, "https://") || strings.HasPrefix(i.Source, "data:image/")
	theme := i.Theme == "" || i.Theme == "light" || i.Theme == "dark"
	return short && source && theme && len(i.Source) <= maxIcon && text(i.Source, maxIcon) == i.Source
}
