package cli

import (
	"encoding/json"
	"fmt"
	"strings"
)

// parseArguments reads a tool's arguments: one JSON object, or key=value words, where a value that is JSON is taken as such
// and any other as a string: count=3 is a number, name=ana and name='"3"' are strings.
func parseArguments(words []string) (json.RawMessage, error) {
	if len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{") {
		object := json.RawMessage(strings.TrimSpace(words[0]))
		if !json.Valid(object) {
			return nil, fmt.Errorf("%s is not JSON", words[0])
		}
		return object, nil
	}
	members := map[string]json.RawMessage{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("argument %q must be key=value, or all of them one JSON object", word)
		}
		if members[key] != nil {
			return nil, fmt.Errorf("argument %q is given twice", key)
		}
		raw := json.RawMessage(value)
		if !json.Valid(raw) {
			raw, _ = json.Marshal(value) // a string always can
		}
		members[key] = raw
	}
	return json.Marshal(members)
}
