package jsonrpc

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSkimLocatesMembers(t *testing.T) {
	t.Parallel()
	f, err := Skim([]byte(` { "jsonrpc" : "2.0" , "id":"550e","result":{"content":[{"type":"text","text":"a\"b"}]},"x":[1,-0.5e+3,true,null,{}] } `))
	if err != nil {
		t.Fatal(err)
	}
	if string(Text(f.ID)) != "550e" || string(f.Result) != `{"content":[{"type":"text","text":"a\"b"}]}` || f.Error != nil || f.Type != nil {
		t.Fatalf("%+v", f)
	}
}

func TestSkimReadsEscapedKeysAndLastDuplicate(t *testing.T) {
	t.Parallel()
	f, err := Skim([]byte(`{"i\u0064":"1","type":"a","type":"\u0062"}`))
	if err != nil || string(Text(f.ID)) != "1" || string(Text(f.Type)) != "b" {
		t.Fatalf("%+v %v", f, err)
	}
}

func TestSkimRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`[]`, `[{"type":"ping"}]`, `1`, `"x"`, `null`} {
		if _, err := Skim([]byte(s)); !errors.Is(err, ErrNotObject) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestSkimNamesTheOffset(t *testing.T) {
	t.Parallel()
	for s, offset := range map[string]int{
		``: 0, `{`: 1, `{"a"}`: 4, `{"a":}`: 5, `{"a":1,}`: 7, `{"a":01}`: 5, `{"a":"` + "\x01" + `"}`: 6,
		`{"a":"\x"}`: 6, `{"a":1} {`: 8, `{"a":tru}`: 5, `{"a":1.}`: 5, `{"a":[1}`: 7, `{"a":"b`: 5,
	} {
		_, err := Skim([]byte(s))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestDeepNestingIsRefusedWithoutRecursion(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte { return []byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`) }
	if _, err := Skim(deep(MaxDepth)); err != nil {
		t.Error(err)
	}
	var syntax *SyntaxError
	if _, err := Skim(deep(MaxDepth + 1)); !errors.As(err, &syntax) {
		t.Error(err)
	}
	if _, err := Skim(deep(1_000_000)); !errors.As(err, &syntax) {
		t.Error(err)
	}
}

func TestFramesAreExact(t *testing.T) {
	t.Parallel()
	call := Call{ID: "550e8400-e29b-41d4-a716-446655440000", Tool: "screenshot", Arguments: []byte(`{"full_page":true}`), SessionID: "sess_abc123"}
	want := `{"jsonrpc":"2.0","id":"550e8400-e29b-41d4-a716-446655440000","method":"tools/call",` +
		`"params":{"name":"screenshot","arguments":{"full_page":true},"session_id":"sess_abc123"}}`
	if got := string(call.Append(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	call = Call{ID: "1", Tool: "a<b>\"\u2028"}
	want = `{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"a<b>\"\u2028","arguments":{}}}`
	if got := string(call.Append(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzSkimAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`{"id":1,"result":{"a":[1,2,{"b":"\u00e9\n"}]}}`, `[1]`, `{"a":"é"}`, `{"a":1e5,"b":-0}`, "{\"a\":\"\x7f\"}", `{"jsonrpc":"2.0","id":"x","error":{"code":-1}}`, `{}`, ` {"type" : "ping"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := Skim(b)
		var object map[string]json.RawMessage
		std := json.Unmarshal(b, &object)
		if err != nil {
			// Ours also refuses invalid UTF-8, deep nesting, and null, which encoding/json takes for any object.
			return
		}
		if std != nil {
			t.Fatalf("accepted %q, encoding/json says %v", b, std)
		}
		for name, got := range map[string][]byte{"type": frame.Type, "id": frame.ID, "result": frame.Result, "error": frame.Error, "params": frame.Params} {
			if string(object[name]) != string(got) {
				t.Fatalf("%s of %q: %q, encoding/json says %q", name, b, got, object[name])
			}
		}
	})
}

// FuzzValidAgreesWithEncodingJSON holds the other direction: what encoding/json accepts we accept, apart from broken
// UTF-8 and deep nesting.
func FuzzValidAgreesWithEncodingJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e-3,"x\ty",true,false,null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := Valid(b)
		if std := json.Valid(b); std == (err == nil) {
			return
		} else if !std {
			t.Fatalf("accepted %q", b)
		}
		if !strings.Contains(err.Error(), "UTF-8") && !strings.Contains(err.Error(), "nesting") {
			t.Fatalf("refused %q: %v", b, err)
		}
	})
}

func BenchmarkSkim200KiB(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":"550e8400-e29b-41d4-a716-446655440000","result":{"content":[{"type":"image","data":"` +
		strings.Repeat("iVBORw0KGgoAAAANSUhE", 10240) + `","mimeType":"image/png"}],"isError":false}}`)
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := Skim(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSkim200B(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":"550e8400-e29b-41d4-a716-446655440000","result":{"content":[{"type":"text","text":"` +
		strings.Repeat("x", 80) + `"}],"isError":false}}`)
	for b.Loop() {
		if _, err := Skim(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzLocateFindsWhatSkimFinds(f *testing.F) {
	for _, s := range []string{`{"id":"a\\","result":{"a":["}",{"b":"\\\""}]},"error":null}`, ` { "id" : 1 , "type":"x" } `, `{}`, `{"a\"b":1,"result":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Locate(b) // ends, and does not panic, whatever b is
		want, err := Skim(b)
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: located %+v, skimmed %+v", b, got, want)
		}
	})
}

func BenchmarkLocate200KiB(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":"550e8400-e29b-41d4-a716-446655440000","result":{"content":[{"type":"image","data":"` +
		strings.Repeat("iVBORw0KGgoAAAANSUhE", 10240) + `","mimeType":"image/png"}],"isError":false}}`)
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		Locate(frame)
	}
}

func FuzzToolOf(f *testing.F) {
	for _, tool := range []string{"screenshot", "", `a"b\`, "é\x00", `","x":"`} {
		f.Add("id", tool, `{"name":"other"}`)
	}
	f.Fuzz(func(t *testing.T, id, tool, arguments string) {
		if !utf8.ValidString(tool) {
			return // AppendString says what becomes of that
		}
		frame := Call{ID: id, Tool: tool, Arguments: []byte(arguments)}.Append(nil)
		if got, ok := ToolOf(frame); !ok || got != tool {
			t.Errorf("%q of %q in %q", got, tool, frame)
		}
		for i := range frame { // of a part it knows all or nothing
			if got, ok := ToolOf(frame[:i]); ok && got != tool {
				t.Errorf("%q of %q in %q", got, tool, frame[:i])
			}
		}
		ToolOf([]byte(arguments))
	})
}
