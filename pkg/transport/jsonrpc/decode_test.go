package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

type inner struct {
	Name  string            `json:"name"`
	Tags  map[string]string `json:"tags"`
	Count int32             `json:"count"`
}

type outer struct {
	Text   string          `json:"text"`
	Alias  string          `json:"camelCase" also:"snake_case"`
	Number *float64        `json:"number"`
	Count  *int32          `json:"count"`
	Flag   bool            `json:"flag"`
	Words  []string        `json:"words"`
	Inner  *inner          `json:"inner"`
	List   []inner         `json:"list"`
	Any    json.RawMessage `json:"any"`
	Object jsonrpc.Object  `json:"object"`
}

func decode(text string) (o outer, err error) {
	if err := jsonrpc.ValidRequest([]byte(text)); err != nil {
		return o, err
	}
	return o, jsonrpc.Decode([]byte(text), &o)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	number, count := 1.5, int32(7)
	for text, want := range map[string]outer{
		` {} `: {},
		`{"text":"a\u00e9\ud83d\ude00\n","TEXT":1,"Text":2,"unknown":[{}],"flag":true}`: {Text: "aé😀\n", Flag: true},
		`{"number":1.5,"count":7.0,"words":["a",""],"any":[1, 2],"object":{"a":1}}`: {
			Number: &number, Count: &count, Words: []string{"a", ""}, Any: json.RawMessage(`[1, 2]`), Object: jsonrpc.Object(`{"a":1}`),
		},
		`{"snake_case":"s"}`:                        {Alias: "s"},
		`{"snake_case":"s","camelCase":"c"}`:        {Alias: "c"},
		`{"camelCase":"c","snake_case":1}`:          {Alias: "c"},
		`{"camelCase":null,"snake_case":"s"}`:       {Alias: "s"},
		`{"text":"a","text":"b"}`:                   {Text: "b"},
		`{"text":"a","text":null}`:                  {},
		`{"words":null,"inner":null,"list":[]}`:     {List: []inner{}},
		`{"inner":{"name":"n","tags":{"a\"":"b"}}}`: {Inner: &inner{Name: "n", Tags: map[string]string{`a"`: "b"}}},
		`{"list":[{"count":-2},{}]}`:                {List: []inner{{Count: -2}, {}}},
	} {
		if got, err := decode(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestDecodeNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"text":1}`:                        "text must be a string",
		`{"snake_case":{}}`:                 "snake_case must be a string",
		`{"number":"1"}`:                    "number must be a number",
		`{"number":1e999}`:                  "number must be a number",
		`{"count":1.5}`:                     "count must be an integer of at most 2147483647",
		`{"count":2147483648}`:              "count must be an integer of at most 2147483647",
		`{"flag":"true"}`:                   "flag must be true or false",
		`{"words":"a"}`:                     "words must be a list of strings",
		`{"words":["a",null]}`:              "words must be a list of strings",
		`{"inner":[]}`:                      "inner must be an object",
		`{"inner":{"tags":{"a":1}}}`:        "inner.tags must be an object of strings",
		`{"list":{}}`:                       "list must be a list",
		`{"list":[{},null]}`:                "list[1] must be an object",
		`{"list":[{},{"count":"1"}]}`:       "list[1].count must be an integer of at most 2147483647",
		`{"list":[{"tags":{"a":{"b":1}}}]}`: "list[0].tags must be an object of strings",
		`{"object":[1]}`:                    "object must be an object",
		`{"words":[` + strings.Repeat(`"",`, jsonrpc.MaxItems) + `""]}`: "words has too many entries: all lists together may have 4096",
	} {
		_, err := decode(text)
		var field *jsonrpc.FieldError
		if !errors.As(err, &field) || err.Error() != want {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	if _, err := decode(`[]`); !errors.Is(err, jsonrpc.ErrNotObject) {
		t.Error(err)
	}
}

func TestPathAt(t *testing.T) {
	t.Parallel()
	const text = ` {"a":1, "b":{"c":[true,{"\u0064":"x"}],"e":{}},"f":[]}`
	for at, want := range map[string]string{
		`"a"`: "a", `1`: "a", `{"c"`: "b", `"c"`: "b.c", `[true`: "b.c", `true`: "b.c[0]", `{"\u`: "b.c[1]", `"\u`: "b.c[1].d", `"x"`: "b.c[1].d",
		`"e"`: "b.e", `{}}`: "b.e", `[]}`: "f",
	} {
		if got := jsonrpc.PathAt([]byte(text), strings.Index(text, at)); got != want {
			t.Errorf("at %s: %q, want %q", at, got, want)
		}
	}
}

// TestAPathCostsWhatItIsLong: naming a member that is nested deeply makes no string for each level.
func TestAPathCostsWhatItIsLong(t *testing.T) {
	name := strings.Repeat("n", 1000)
	text := strings.Repeat(`{"`+name+`":`, 500) + "0" + strings.Repeat("}", 500)
	var path string
	cost := testkit.Allocated(func() { path = jsonrpc.PathAt([]byte(text), strings.IndexByte(text, '0')) })
	if len(path) != 500*1001-1 || cost > 4*len(text) {
		t.Errorf("a path of %d bytes cost %d", len(path), cost)
	}
}

// constant is what a reader may allocate beside four times the bytes that it reads.
const constant = 512 << 10

// expensive are documents that are small and would be large in memory.
func expensive() []string {
	const n = 20_000
	return []string{
		`{"text":"` + strings.Repeat(`\n`, n) + `"}`, `{` + strings.Repeat(`"\n":1,`, n) + `"":1}`, `{"words":[` + strings.Repeat(`"",`, n) + `""]}`,
		`{"list":[` + strings.Repeat(`{},`, n) + `{}]}`, `{"inner":{"tags":{` + strings.Repeat(`"a":"",`, n) + `"":""}}}`, `{"any":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
		strings.Repeat(`{"z":`, n) + "1" + strings.Repeat("}", n), strings.Repeat("[", n), `{"list":[` + strings.Repeat(`{"tags":{"a":""},"name":"x"},`, 4000) + `{}]}`,
		`{"number":` + strings.Repeat("1", n) + `}`, `{"inner":{` + strings.Repeat(`"name":"",`, n) + `"name":""}}`,
	}
}

// FuzzReadersCostTheirBytes: nothing that reads JSON allocates more than four times its bytes, and a constant.
func FuzzReadersCostTheirBytes(f *testing.F) {
	for _, s := range expensive() {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		_, _ = decode("{}") // what is made once
		limit := 4*len(text) + constant
		for name, read := range map[string]func(){
			"Valid":  func() { _ = jsonrpc.Valid(text) },
			"Skim":   func() { _, _ = jsonrpc.Skim(text) },
			"Locate": func() { jsonrpc.Locate(text) },
			"PathAt": func() { _ = jsonrpc.PathAt(text, at) },
			"Text":   func() { jsonrpc.Text(text) },
			"Decode": func() { // ends, whatever text is
				if len(text) > 0 {
					_ = jsonrpc.Decode(text, &outer{})
				}
			},
		} {
			if cost := testkit.Allocated(read); cost > testkit.MemoryLimit(limit) {
				t.Errorf("%s allocates %d bytes for %d: %.80q", name, cost, len(text), text)
			}
		}
	})
}

// FuzzTextAgreesWithEncodingJSON: of strings that are JSON.
func FuzzTextAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u0041\n\/\\\"\b\f\r\t"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ude00\u00e9"`, `"\uFFFF"`, `"\ud83dx"`, `"\ud83d\n"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := jsonrpc.Text([]byte(raw)) // ends, whatever raw is
		var want string
		if jsonrpc.Valid([]byte(raw)) != nil || json.Unmarshal([]byte(raw), &want) != nil || raw[0] != '"' || raw[len(raw)-1] != '"' {
			return
		}
		if string(got) != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	})
}

// FuzzAppendStringAgreesWithEncodingJSON: to the byte.
func FuzzAppendStringAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{"a", "\x00\b\f\n\r\t\x1f\x7f\"\\/<>&", "é\u2028\u2029😀\ufffd", "a\xff\xc3", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := jsonrpc.AppendString([]byte("x"), s); string(got) != "x"+strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("%q is %s", s, got)
		}
	})
}

type toolBody struct {
	ToolName  string         `json:"tool_name"`
	ToolArgs  jsonrpc.Object `json:"tool_args"`
	SessionID string         `json:"session_id"`
	NodeID    string         `json:"node_id"`
}

func BenchmarkDecodeToolCall(b *testing.B) {
	body := []byte(`{"tool_name":"screenshot","tool_args":{"full_page":true,"selector":"#main"},"session_id":"sess_abc123","node_id":"ext_1"}`)
	b.ReportAllocs()
	for b.Loop() {
		var t toolBody
		if err := errors.Join(jsonrpc.ValidRequest(body), jsonrpc.Decode(body, &t)); err != nil {
			b.Fatal(err)
		}
	}
}
