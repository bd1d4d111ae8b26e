package approval_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` { "b" : [ 1 , 2.50 , -1e3 ] , "a" : { "d":null,"c":true } } `: `{"a":{"c":true,"d":null},"b":[1,2.50,-1e3]}`,
		`{"\u0061":"\u00e9\/"}`:         `{"a":"é/"}`,
		`{"a":"` + "\ufffd" + `"}`:      `{"a":"` + "\ufffd" + `"}`,
		`{"a":"x\"\ud800\\"}`:           `{"a":"x\"\ud800\\"}`,
		`{"a":"\ufffd"}`:                `{"a":"\ufffd"}`,
		`{"":[],"b":[[],{}],"c":false}`: `{"":[],"b":[[],{}],"c":false}`,
		`{"n":12345678901234567890.0}`:  `{"n":12345678901234567890.0}`,
	} {
		if got, err := approval.Canonical([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{
		``, `null`, `[]`, `"x"`, `1`, `{`, `{} {}`, `{"a":1,}`, `{"a":1,"a":1}`, `{"x":{"a":1,"\u0061":2}}`, "{\"a\":\"\xff\"}",
		strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000),
	} {
		if got, err := approval.Canonical([]byte(in)); err == nil {
			t.Errorf("%.40s became %.40s", in, got)
		}
	}
}

// Each part counts, and none can be mistaken for another.
func TestDigestsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{
		{"s", "c", "t", `{}`, "n", "m"}, {"S", "c", "t", `{}`, "n", "m"}, {"s", "C", "t", `{}`, "n", "m"},
		{"s", "c", "T", `{}`, "n", "m"}, {"s", "c", "t", `{"a":1}`, "n", "m"}, {"s", "c", "t", `{"a":1.0}`, "n", "m"},
		{"s", "c", "t", `{"a":"1"}`, "n", "m"}, {"s", "c", "t", `{}`, "N", "m"}, {"s", "c", "t", `{}`, "n", "M"},
		{"sc", "", "t", `{}`, "n", "m"}, {"", "sc", "t", `{}`, "n", "m"}, {"s", "c", "t", `{}`, "nm", ""}, {"s", "c", "t", `{}`, "", "nm"},
		{"s", "c", "t", `{"a":1,"a":2}`, "n", "m"}, {"s", "c", "t", `{"a":2,"a":1}`, "n", "m"}, {"s", "c", "t", ``, "n", "m"},
		{"s", "c", "t", `{"a":"\ud800"}`, "n", "m"}, {"s", "c", "t", `{"a":"\ud801"}`, "n", "m"},
	} {
		d := digestOf(parts)
		if len(d) != 64 {
			t.Fatalf("%q", d)
		}
		if other := seen[d]; other != nil {
			t.Errorf("%q and %q have one digest", parts, other)
		}
		seen[d] = parts
	}
	if digestOf([]string{"s", "c", "t", `{"a":1,"b":"x"}`, "n", "m"}) != digestOf([]string{"s", "c", "t", "{\"b\" : \"\\u0078\",\n\"a\":1}", "n", "m"}) {
		t.Error("the way that arguments are written counts")
	}
}

func digestOf(p []string) string {
	return approval.Digest(ids.SessionID(p[0]), p[1], p[2], []byte(p[3]), p[4], p[5])
}

// The canonical form means the same, is its own canonical form, and does not depend on how the object was written.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\ud800"}],"c":null}`, `{"z":1e5,"a":"\\\""}`, `{"a":1,"a":2}`, `{} `, `[1]`, `{"a":true}x`} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		got, err := approval.Canonical(in)
		if err != nil {
			return
		}
		var before, after map[string]any
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(got, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", in, got)
		}
		again, err := approval.Canonical(got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%q became %q, then %q, %v", in, got, again, err)
		}
		other := rewrite(got, rand.New(rand.NewPCG(seed, 0)))
		if same, err := approval.Canonical(other); err != nil || string(same) != string(got) {
			t.Fatalf("%q, written as %q, became %q, %v", got, other, same, err)
		}
	})
}

// rewrite adds white space between the tokens of JSON.
func rewrite(in []byte, random *rand.Rand) []byte {
	var out []byte
	inString := false
	for i, c := range in {
		out = append(out, c)
		switch {
		case c == '"' && !(inString && oddBackslashes(in[:i])):
			inString = !inString
		case !inString && strings.IndexByte("{}[],:", c) >= 0:
			out = append(out, " \n\t\r"[:random.IntN(4)]...)
		}
	}
	return out
}

func oddBackslashes(in []byte) bool {
	n := 0
	for i := len(in) - 1; i >= 0 && in[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}
