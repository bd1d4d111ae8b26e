package faults

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "faults.yaml")
	text := `
- {name: gateway killed, kind: gateway, do: "kill it", hold: 10s, undo: "start it", settle: 15s, lossless: false}
- name: gateway drained
  do: |
    drain it
    wait for it
  lossless: true
  recover: 5s
- {name: Redis killed, do: kill it, lossless: calls}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	want := []Fault{
		{Name: "gateway killed", Kind: "gateway", Do: "kill it", Undo: "start it", Hold: 10 * time.Second, Settle: 15 * time.Second},
		{Name: "gateway drained", Do: "drain it\nwait for it\n", Lossless: true, LosslessRuns: true, Recover: 5 * time.Second},
		{Name: "Redis killed", Do: "kill it", Lossless: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Read(path + "x"); err == nil {
		t.Error("a file that is not there is read")
	}
}

// Errors name the line and the key.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		says []string
	}{
		"nothing":         {"", []string{"f: there is no fault in it"}},
		"only a comment":  {"# nothing\n", []string{"f: there is no fault in it"}},
		"an empty list":   {"[]", []string{"f:1: there is no fault in it"}},
		"no list":         {"name: x\n", []string{"f:1: must be a list of faults"}},
		"no mapping":      {"- x\n- [y]\n", []string{"f:1: a fault must have the keys name, kind", "f:2: a fault must have"}},
		"no YAML":         {"- name: [x\n", []string{"f: yaml: line"}},
		"two documents":   {"- {name: a, do: b}\n---\n- {name: c, do: d}\n", []string{"f: holds more than one document"}},
		"unknown key":     {"- name: a\n  do: b\n  holds: 1s\n", []string{`f:3: key "holds" is not known; there are name, kind, do, hold`}},
		"doubled key":     {"- name: a\n  do: b\n  do: c\n", []string{`f:3: key "do" stands here and on line 2`}},
		"missing keys":    {"- kind: a\n", []string{`f:1: key "name" is missing`, `f:1: key "do" is missing`}},
		"empty values":    {"- name: ''\n  do: ' '\n", []string{"f:1: name must not be empty", "f:2: do must not be empty"}},
		"no duration":     {"- name: a\n  do: b\n  hold: ten\n  settle: -1s\n", []string{`f:3: hold is "ten", must be a duration`, `f:4: settle is "-1s"`}},
		"no bool":         {"- name: a\n  do: b\n  lossless: perhaps\n", []string{`f:3: lossless is "perhaps", must be true, calls`}},
		"no plain value":  {"- name: a\n  do: [b, c]\n", []string{"f:2: do must be a plain value"}},
		"the name twice":  {"- name: a\n  do: b\n- name: a\n  do: c\n", []string{`f:3: name "a" stands here and on line 1`}},
		"all are told of": {"- name: a\n  do: b\n  x: 1\n- do: c\n  hold: y\n", []string{`f:3: key "x"`, `f:5: hold is "y"`, `f:4: key "name" is missing`}},
	} {
		_, err := parse("f", []byte(tt.text))
		for _, want := range tt.says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if err != nil && strings.Count(err.Error(), "\n")+1 != len(tt.says) {
			t.Errorf("%s: it says more: %v", name, err)
		}
	}
}
