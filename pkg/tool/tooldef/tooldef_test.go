package tooldef_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const full = `{"name":"fill_form","title":"Fill a form","description":"Fills it.\n\nAll of it.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"properties":{"who":{"$ref":"#/$defs/person"},"$ref":{"type":"string"},"n":{"type":["integer","null"],"minimum":0,"x-own":{"deep":[1,2]}}},` +
	`"required":["who"],"additionalProperties":false,"$defs":{"person":{"$anchor":"p","type":"object","allOf":[{"if":true,"then":{"not":false}}]}}},` +
	`"outputSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}},` +
	`"annotations":{"title":"Form","readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false},` +
	`"icons":[{"src":"https://a.example/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"},{"src":"data:image/png;base64,AAAA"}]}`

func TestWhatMCPKnowsIsKept(t *testing.T) {
	t.Parallel()
	blanks := strings.ReplaceAll(full, `,"`, " ,\n\t\"") // blanks between members say nothing
	for _, text := range []string{full, blanks} {
		d, err := tooldef.Check([]byte(text))
		if got := string(d.Append(nil)); err != nil || got != full {
			t.Errorf("%v\n got %s\nwant %s", err, got, full)
		}
	}
}

func tool(schema string) string { return `{"name":"t","inputSchema":` + schema + `}` }

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: "must be an object", `{}`: "name must", `{"name":1}`: "name must", `{"name":"a\u202eb","inputSchema":{"type":"object"}}`: "control character",
		`{"name":"t"}`: `inputSchema must be a JSON Schema of type "object"`, tool(`null`): `of type "object"`, tool(`true`): `of type "object"`,
		tool(`{}`): `of type "object"`, tool(`{"type":"string"}`): `of type "object"`, tool(`{"type":["object"]}`): `of type "object"`,
		tool(`{"type":"object","type":"string"}`): `of type "object"`, tool(`{"type":"string","type":"object"}`): `of type "object"`,
		tool(`{"type":"object","properties":[]}`): "properties", tool(`{"type":"object","properties":{"a":1}}`): "where a schema belongs",
		tool(`{"type":"object","properties":{"a":{"type":"text"}}}`): "type", tool(`{"type":"object","required":"a"}`): "required",
		tool(`{"type":"object","required":[1]}`): "required", tool(`{"type":"object","anyOf":{}}`): "anyOf", tool(`{"type":"object","enum":1}`): "enum",
		tool(`{"type":"object","description":1}`):                                                        "description",
		tool(`{"type":"object","properties":{"a":{"$ref":"http://10.0.0.1/x"}}}`):                        "only one that begins with #",
		tool(`{"type":"object","properties":{"a":{"$r\u0065f":"file:///etc/passwd"}}}`):                  "only one that begins with #",
		tool(`{"type":"object","allOf":[{"not":{"items":[{"$dynamicRef":"//h/x"}]}}]}`):                  "only one that begins with #",
		tool(`{"type":"object","properties":{"a":{"$ref":1}}}`):                                          "only one that begins with #",
		tool(`{"type":"object","properties":{"pay\u202e":{}}}`):                                          "hides text",
		tool(`{"type":"object","properties":{"` + strings.Repeat("p", 200) + `":{}}}`):                   "200 bytes",
		tool(`{"type":"object","default":"` + strings.Repeat("x", tooldef.MaxBytes) + `"}`):              "at most 32768 are allowed",
		tool(`{"type":"object","not":` + strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat("}", 71)): "nesting deeper",
		`{"name":"t"`: "is not JSON", `{"name":"t"} x`: "is not JSON",
	} {
		if d, err := tooldef.Check([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, %s; want %q", text, err, d.Append(nil), want)
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	const open = `"inputSchema":{"type":"object"}`
	for text, want := range map[string]string{
		// Marks for headers that nobody checks, also under a name that is written with escapes.
		tool(`{"type":"object","properties":{"a":{"x-mcp-header":"A","type":"string"},"b":{"type":"string","x-mcp-h\u0065ader":1}}}`): tool(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`),
		tool(`{"type":"object","properties":{"x-mcp-header":{}}}`):                                                                    tool(`{"type":"object","properties":{"x-mcp-header":{}}}`), // a name like any other
		tool(`{"$schema":"https://evil.example/s","type":"object"}`):                                                                  tool(`{"type":"object"}`),
		`{"name":"t",` + open + `,"outputSchema":{"type":"array"}}`:                                                                   `{"name":"t",` + open + `}`,
		`{"name":"t",` + open + `,"_meta":{"a":1},"execution":{},"x":1,"annotations":{"readOnlyHint":"yes","other":1},"title":7}`:     `{"name":"t",` + open + `}`,
		`{"name":"t",` + open + `,"icons":[{"src":"javascript:alert(1)"},{"src":"http://a/b"},{"src":1},{"src":"data:text/html,x"}]}`: `{"name":"t",` + open + `}`,
		`{"name":"t","title":" A\n b\u202e ","description":"\u0000a\u200ab\u2066c\u2028d\udb40\udc41\u0007 ",` + open + `}`:           `{"name":"t","title":"A b","description":"a` + "\u200a" + `bc\nd",` + open + `}`,
		tool(`{"type":"object","properties":{"a":{"description":"x\u202ey","enum":["\u202e"]}}}`):                                     tool(`{"type":"object","properties":{"a":{"description":"xy","enum":["\u202e"]}}}`),
	} {
		d, err := tooldef.Check([]byte(text))
		if got := string(d.Append(nil)); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", text, err, got, want)
		}
	}
	d, err := tooldef.Check([]byte(`{"name":"t","description":"` + strings.Repeat("ä", 5000) + `",` + open + `}`))
	if err != nil || len(d.Description) > 4<<10 || !strings.HasSuffix(d.Description, "ä…") {
		t.Errorf("%v, a description of %d bytes that ends in %q", err, len(d.Description), d.Description[len(d.Description)-10:])
	}
}

func TestABadDefinitionCostsOnlyItself(t *testing.T) {
	t.Parallel()
	r, err := tooldef.Read([]byte(`[` + full + `,{"name":"bad","inputSchema":{"type":"string"}},{"name":"fill_form","inputSchema":{"type":"object"}},7,{"name":""},` + tool(`{"type":"object"}`) + `]`))
	if err != nil || !slices.Equal(r.Names, []string{"fill_form", "bad", "t"}) || r.Kept != 2 || len(r.Problems) != 4 {
		t.Fatalf("%v, %+v", err, r)
	}
	for i, want := range []string{`tools[1] "bad": inputSchema`, `tools[2] "fill_form": is defined before`, `tools[3] "": must be an object`, `tools[4] "": name`} {
		if !strings.HasPrefix(r.Problems[i].Error(), want) {
			t.Errorf("%v, want %q", r.Problems[i], want)
		}
	}
	defs, err := tooldef.Unpack(r.Set.Packed(), r.Digest)
	if err != nil || len(defs) != 2 || string(defs[0].Append(nil)) != full || defs[1].Name != "t" {
		t.Errorf("%v, %v", err, defs)
	}
	if again, digest := tooldef.Pack(defs); again != r.Set || digest != r.Digest {
		t.Error("the same definitions are another set")
	}
	if _, err := tooldef.Read([]byte(`{}`)); err == nil {
		t.Error("an object is no list of tools")
	}
	if _, err := tooldef.Read([]byte(`[` + strings.Repeat("0,", 512) + `0]`)); err == nil {
		t.Error("513 tools are too many")
	}
}

func TestASetIsBounded(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 100 {
		list = append(list, `{"name":"t`+strconv.Itoa(i)+`","description":"`+strings.Repeat(strconv.Itoa(i%10), 4000)+`","inputSchema":{"type":"object"}}`)
	}
	r, err := tooldef.Read([]byte(`[` + strings.Join(list, ",") + `]`))
	if err != nil || len(r.Names) != 100 || r.Kept < 60 || r.Kept > 65 || len(r.Problems) != 100-r.Kept {
		t.Errorf("%v: %d names, %d kept, %d problems", err, len(r.Names), r.Kept, len(r.Problems))
	}
	if defs, err := tooldef.Unpack(r.Set.Packed(), r.Digest); err != nil || len(defs) != r.Kept {
		t.Errorf("%d definitions, %v", len(defs), err)
	}
}

func TestOnlyWhatTheDigestNamesIsUnpacked(t *testing.T) {
	t.Parallel()
	set, digest := tooldef.Pack([]tooldef.Definition{tooldef.Made("a", &nodev1.NodeInfo{})})
	_, other := tooldef.Pack([]tooldef.Definition{tooldef.Made("b", &nodev1.NodeInfo{})})
	if _, err := tooldef.Unpack(set.Packed(), other); err == nil {
		t.Error("another digest was taken")
	}
	for i := range set.Packed() {
		damaged := set.Packed()
		damaged[i] ^= 0x10
		if defs, err := tooldef.Unpack(damaged, digest); err == nil && len(defs) != 1 {
			t.Errorf("byte %d: %v", i, defs)
		}
	}
	// 1 GiB, as a head of five bytes says.
	if _, err := tooldef.Unpack([]byte{0x80, 0x80, 0x80, 0x80, 0x04, 0}, digest); err == nil {
		t.Error("a set of 1 GiB was taken")
	}
	for _, bad := range []string{"x", digest + "A", digest[1:], strings.Repeat("=", 43)} {
		if tooldef.CheckDigest(bad) == nil {
			t.Errorf("%q is no digest", bad)
		}
	}
	if err := tooldef.CheckDigest(digest); err != nil {
		t.Error(err)
	}
}

func TestMade(t *testing.T) {
	t.Parallel()
	desk := &nodev1.NodeInfo{NodeId: "d", NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP, NodeName: "My \"PC\"", Os: "linux"}
	web := &nodev1.NodeInfo{NodeId: "w", NodeType: nodev1.NodeType_NODE_TYPE_EXTENSION, AvailableTools: []string{"list_tabs"}}
	for _, tt := range []struct {
		name        string
		node        *nodev1.NodeInfo
		description string
		schema      string
		readOnly    bool
	}{
		{"brew", desk, `A tool of the node "My \"PC\"" (desktop, "linux"), which calls it "brew".`, `"additionalProperties":true`, false},
		{"workflow_pay", web, `Runs the workflow "pay" that the user has published on the node "w" (browser).`, `"additionalProperties":true`, false},
		{"screenshot", desk, "Takes a picture of the user's whole screen.", `{"properties":{},"type":"object"}`, true},
		{"screenshot", web, "Takes a picture of what the browser's tab shows", `"tabId"`, true},
		{"click", &nodev1.NodeInfo{}, "Scrolls to an element", `"required":["selector"]`, false},
	} {
		d := tooldef.Made(tt.name, tt.node)
		if !strings.HasPrefix(d.Description, tt.description) || !strings.Contains(string(d.InputSchema), tt.schema) || d.ReadOnly() != tt.readOnly {
			t.Errorf("%s", d.Append(nil))
		}
		if _, err := tooldef.Check(d.Append(nil)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, args string
		want       time.Duration
	}{
		{"click", `{}`, time.Minute}, {"workflow_x", `{}`, 5 * time.Minute}, {"run_command", `{"timeout_ms":120000}`, 125 * time.Second},
		{"run_command", `{"timeout_ms":"soon"}`, time.Minute}, {"hitl_prompt", `{"timeout":1e9}`, time.Hour + 5*time.Second}, {"hitl_prompt", `{"timeout":-1}`, time.Minute},
	} {
		if got := tooldef.Timeout(tt.name, []byte(tt.args)); got != tt.want {
			t.Errorf("%s %s: %v", tt.name, tt.args, got)
		}
	}
	if got := tooldef.LongestTimeout("run_command"); got != time.Hour+5*time.Second {
		t.Error(got)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	given, err := tooldef.Check([]byte(`{"name":"b","description":"mine","inputSchema":{"type":"object"}}`))
	if err != nil {
		t.Fatal(err)
	}
	set, digest := tooldef.Pack([]tooldef.Definition{given})
	asked, away := 0, errors.New("away")
	answer := func() ([]byte, error) { return nil, away }
	c := tooldef.NewCache(func(_ context.Context, user ids.UserID, d string) ([]byte, error) {
		if asked++; user != "ana" || d != digest {
			t.Errorf("asked for %s of %s", d, user)
		}
		return answer()
	})
	node := &nodev1.NodeInfo{NodeId: "n", AvailableTools: []string{"a", "b", "a\u202eb"}, ToolsDigest: digest}
	describe := func() string {
		defs, err := c.Offered(t.Context(), "ana", node)
		if err != nil && !errors.Is(err, away) {
			t.Error(err)
		}
		var all []string
		for _, d := range defs {
			word, _, _ := strings.Cut(d.Description, " ")
			all = append(all, d.Name+" "+word)
		}
		return strings.Join(all, ", ")
	}
	if got := describe(); got != "a A, b A" { // made, and not remembered
		t.Error(got)
	}
	answer = func() ([]byte, error) { return nil, nil }
	if got := describe(); got != "a A, b A" {
		t.Error(got)
	}
	answer = func() ([]byte, error) { return set.Packed(), nil }
	for range 3 {
		if got := describe(); got != "a A, b mine" {
			t.Error(got)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

func TestACacheIsBounded(t *testing.T) {
	t.Parallel()
	sets := map[string][]byte{}
	c := tooldef.NewCache(func(_ context.Context, _ ids.UserID, d string) ([]byte, error) { return sets[d], nil })
	for i := range 1500 {
		set, digest := tooldef.Pack([]tooldef.Definition{{Name: strconv.Itoa(i), InputSchema: json.RawMessage(`{"type":"object","default":"` + strings.Repeat("x", 30<<10) + `"}`)}})
		sets[digest] = set.Packed()
		if packed, err := c.Packed(t.Context(), "ana", digest); err != nil || len(packed) == 0 {
			t.Fatal(err)
		}
	}
	if kept := tooldef.Kept(c); kept > 32<<20 || kept < 16<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
}
