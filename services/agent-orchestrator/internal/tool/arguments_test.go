package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const schema = `{"type":"object","required":["path","tags"],"properties":{
	"path":{"type":"string"},"limit":{"type":"integer"},"ratio":{"type":"number"},"deep":{"type":"boolean"},
	"tags":{"type":["array","null"]},"more":{"type":"object"},"any":{}}}`

func TestCheckArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{ // what the error names; "" for none
		`{"path":"a","tags":[]}`:   "",
		`{"path":"a","tags":null}`: "",
		` {"path":"","tags":[],"limit":3,"ratio":3,"deep":false,"more":{},"any":[1],"unknown":0} `: "",
		`{"path":"a","tags":[],"limit":3.0,"ratio":1e2}`:                                           "",
		`{"path":"a","tags":[],"limit":null}`:                                                      "", // left out
		`{"tags":[]}`:                                                                              "arguments.path is missing",
		`{"path":null,"tags":[]}`:                                                                  "arguments.path must be string, not null",
		`{"path":7,"tags":[]}`:                                                                     "arguments.path must be string, not number",
		`{"path":"a","tags":{}}`:                                                                   "arguments.tags must be array or null, not object",
		`{"path":"a","tags":[],"limit":3.5}`:                                                       "arguments.limit must be integer, not number",
		`{"path":"a","tags":[],"deep":"secret"}`:                                                   "arguments.deep must be boolean, not string",
		`{"path":"a","tags":[],"more":[]}`:                                                         "arguments.more must be object, not array",
		`{"path":"a","tags":[],"ratio":true}`:                                                      "arguments.ratio must be number, not boolean",
		``:                                                                                         "there is nothing",
		`[]`:                                                                                       "they are array",
		`"{}"`:                                                                                     "they are string",
		`{"path":`:                                                                                 "not JSON",
		`{} {}`:                                                                                    "not JSON",
	} {
		err := tool.CheckArguments(tool.Spec{Parameters: json.RawMessage(schema)}, []byte(args))
		var failure *tool.Failure
		switch {
		case want == "" && err != nil, want != "" && err == nil:
			t.Errorf("%s: %v", args, err)
		case err == nil:
		case !errors.As(err, &failure) || failure.Outcome != tool.Invalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// A definition that cannot be read requires nothing, and that of a node's tool is only a description.
func TestCheckArgumentsWithoutADefinition(t *testing.T) {
	t.Parallel()
	for _, spec := range []tool.Spec{
		{}, {Parameters: json.RawMessage(`nonsense`)}, {Parameters: json.RawMessage(`{"required":7,"properties":{"path":{"type":9}}}`)},
		{Parameters: json.RawMessage(schema), Layer: tool.Connector},
	} {
		if err := tool.CheckArguments(spec, []byte(`{"path":7}`)); err != nil {
			t.Error(err)
		}
		if err := tool.CheckArguments(spec, []byte(`7`)); err == nil {
			t.Error("a number passes as arguments")
		}
	}
}

func FuzzCheckArguments(f *testing.F) {
	f.Add([]byte(schema), []byte(`{"path":"a","tags":[]}`))
	f.Add([]byte(`{"properties":{"path":{"type":[]}}}`), []byte(`{"path":""}`))
	f.Fuzz(func(t *testing.T, parameters, args []byte) {
		if tool.CheckArguments(tool.Spec{Parameters: parameters}, args) == nil && !json.Valid(args) {
			t.Errorf("%q passes", args)
		}
	})
}

func TestCleanText(t *testing.T) {
	t.Parallel()
	if got := tool.CleanText("a\x00b\xffc"); got != "a\uFFFDb\uFFFDc" {
		t.Errorf("%q", got)
	}
}
