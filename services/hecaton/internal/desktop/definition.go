package desktop

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// definitions.json is what the node says of its tools when it registers: a tool object of MCP for each.
//
//go:embed definitions.json
var definitionsJSON []byte

var definitions = func() map[string]tooldef.Definition {
	if err := jsonrpc.Valid(definitionsJSON); err != nil {
		panic("desktop: definitions.json: " + err.Error()) // a mistake of the build, which a test finds
	}
	byName := map[string]tooldef.Definition{}
	var problems []error
	var list []json.RawMessage
	problems = append(problems, json.Unmarshal(definitionsJSON, &list))
	for _, raw := range list {
		d, err := tooldef.Check(raw)
		byName[d.Name] = d
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		panic(fmt.Sprintf("desktop: definitions.json: %v", err))
	}
	return byName
}()
