package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// CheckArguments compares a call's arguments with what the tool's definition requires: that they are an object, that the
// required ones are there, and that each has its type. The error is a *Failure of outcome [Invalid] that names the field
// and never its value; the call is not to be sent. A null for what is not required counts as left out.
//
// Of connector tools only the object is checked: their definition is a description for the model, and the node itself knows
// better.
func CheckArguments(spec Spec, args []byte) error {
	members, err := object(args)
	if err != nil {
		return &Failure{Outcome: Invalid, Message: "the arguments must be one JSON object: " + err.Error()}
	}
	if spec.Layer == Connector {
		return nil
	}
	var schema struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(spec.Parameters, &schema) // what cannot be read requires nothing
	for _, name := range schema.Required {
		if members[name] == nil {
			return &Failure{Outcome: Invalid, Message: fmt.Sprintf("arguments.%s is missing; it is required", name)}
		}
	}
	for name, value := range members {
		var property struct {
			Type json.RawMessage `json:"type"`
		}
		_ = json.Unmarshal(schema.Properties[name], &property)
		want := typesOf(property.Type)
		if len(want) == 0 || is(value, want) || string(value) == "null" && !slices.Contains(schema.Required, name) {
			continue
		}
		return &Failure{Outcome: Invalid, Message: fmt.Sprintf("arguments.%s must be %s, not %s", name, strings.Join(want, " or "), kind(value))}
	}
	return nil
}

func object(args []byte) (map[string]json.RawMessage, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 {
		return nil, fmt.Errorf("there is nothing")
	}
	if err := jsonrpc.ValidRequest(args); err != nil {
		return nil, fmt.Errorf("they are not JSON that can be sent: %w", err)
	}
	if args[0] != '{' {
		return nil, fmt.Errorf("they are %s", kind(args))
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(args, &members)
	return members, err
}

// typesOf reads "type", which is one name or a list of them.
func typesOf(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var several []string
	_ = json.Unmarshal(raw, &several)
	return several
}

func is(value json.RawMessage, want []string) bool {
	got := kind(value)
	return slices.Contains(want, got) || got == "number" && slices.Contains(want, "integer") && integral(value)
}

// integral reports whether a number is whole: 3.0 is, for JSON Schema.
func integral(value json.RawMessage) bool {
	var f float64
	return json.Unmarshal(value, &f) == nil && f == math.Trunc(f)
}

// kind names the JSON type of a valid value.
func kind(value json.RawMessage) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
