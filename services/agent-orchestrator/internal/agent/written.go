package agent

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// object returns what a model wrote as arguments; nil if that is no JSON object. Nothing at all counts as an empty one.
func object(written string) []byte {
	text := strings.TrimSpace(written)
	switch {
	case text == "":
		return []byte("{}")
	case text[0] != '{' || !utf8.ValidString(text) || !json.Valid([]byte(text)):
		return nil
	}
	return []byte(text)
}

// argsJSON returns what a model wrote as arguments as JSON in any case: as a string if it is no object.
func argsJSON(object []byte, written string) []byte {
	if object != nil {
		return object
	}
	text, _ := json.Marshal(written) // a string cannot fail
	return text
}

// asWritten returns the calls of an answer as the conversation has them.
func asWritten(answer llm.Answer, calls []store.Call) []store.MessageCall {
	if len(calls) == 0 {
		return nil
	}
	out := make([]store.MessageCall, len(calls))
	for i, c := range calls {
		args := string(c.Args)
		if c.Args == nil {
			args = tool.CleanText(answer.Calls[i].Args)
		}
		out[i] = store.MessageCall{ID: c.ID, Name: c.Tool, Args: args}
		if written := answer.Calls[i].Name; written != c.Tool && tool.PastName(written) == written {
			out[i].Written = written
		}
	}
	return out
}
