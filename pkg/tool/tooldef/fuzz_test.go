package tooldef_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// FuzzCheck: whatever a device gives, what is kept is within bounds, is JSON that MCP's clients take, and stays as it is when it
// is checked again.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		full, `{}`, `{"name":"a"}`, tool(`{"type":"object"}`), tool(`{"type":"object","properties":{"a":{"x-mcp-header":"A"},"$ref":{"$ref":"#"}}}`),
		tool(`{"type":"object","properties":{"a":{"$ref":"http://a"}}}`), tool(`{"type":"object","items":[true,{"x-mcp-header":1}],"enum":[{"$ref":"x"}]}`),
		`{"name":"\ud800","inputSchema":{"type":"object","":{}}}`, `{"name":"n","icons":[{"src":"https://\u0000"}],"inputSchema":{"type":"object","title":"\udb40\udc41"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := tooldef.Check(raw)
		if err != nil {
			return
		}
		text := d.Append(nil)
		if len(text) > 2*tooldef.MaxBytes || toolname.Check(d.Name) != nil || !json.Valid(text) || slices.ContainsFunc([]rune(d.Description+d.Title), hides) {
			t.Fatalf("%q became %q", raw, text)
		}
		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(d.InputSchema, &schema) != nil || schema.Type != "object" {
			t.Fatalf("%q became %q", raw, text)
		}
		references(t, d.InputSchema)
		again, err := tooldef.Check(text)
		if err != nil || !bytes.Equal(again.Append(nil), text) {
			t.Fatalf("%q, checked again: %v\n%q", text, err, again.Append(nil))
		}
	})
}

func hides(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control)
}

// references finds references to other documents, and marks, where a reader would follow them: below properties, which is where
// they are in practice. It is another reader than the one under test.
func references(t *testing.T, schema []byte) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return
	}
	for _, property := range s.Properties {
		var members map[string]json.RawMessage
		if json.Unmarshal(property, &members) != nil {
			continue
		}
		var ref string
		_ = json.Unmarshal(members["$ref"], &ref)
		if members["x-mcp-header"] != nil || ref != "" && !strings.HasPrefix(ref, "#") {
			t.Fatalf("%q holds what nobody may follow", schema)
		}
		references(t, property)
	}
}

// FuzzRead: a list of tools costs no more than four times its bytes, and a constant, and what is kept can be unpacked.
func FuzzRead(f *testing.F) {
	const constant = 512 << 10
	for _, s := range []string{
		`[` + full + `]`, `[]`, `[1]`, `{}`, `[` + strings.Repeat(`{},`, 511) + `{}]`, `[{"name":"a","inputSchema":{"type":"object","properties":{` + strings.Repeat(`"":{},`, 4000) + `"":{}}}}]`,
		`[` + strings.Repeat(`{"name":"a"},`, 500) + `0]`, `[{"name":"a","inputSchema":{"type":"object","enum":[` + strings.Repeat("[],", 9000) + `0]}}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsonrpc.Valid(raw) != nil || len(bytes.TrimSpace(raw)) == 0 {
			return
		}
		raw = bytes.TrimSpace(raw)
		var r tooldef.Reading
		var err error
		if cost := testkit.Allocated(func() { r, err = tooldef.Read(raw) }); cost > testkit.MemoryLimit(4*len(raw)+constant) {
			t.Errorf("%d bytes for %d: %.80q", cost, len(raw), raw)
		}
		if err != nil {
			return
		}
		if r.Kept == 0 {
			if !r.Set.IsZero() || r.Digest != "" {
				t.Fatalf("%q became %+v", raw, r)
			}
			return
		}
		defs, err := tooldef.Unpack(r.Set.Packed(), r.Digest)
		if err != nil || len(defs) != r.Kept || len(r.Names) < r.Kept || toolname.CheckAll(r.Names) != nil || tooldef.CheckDigest(r.Digest) != nil {
			t.Fatalf("%q became %+v: %v", raw, r, err)
		}
	})
}
