package apidoc

import (
	"bytes"
	_ "embed" // for what is written by hand
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hecaton-dev/hecaton/proto"
)

// patch is a JSON merge patch (RFC 7396) of what comes from the protos.
//
//go:embed gateway.swagger.json
var patch []byte

// OpenAPI returns the description of everything that a gateway serves.
func OpenAPI() ([]byte, error) {
	// Errors are problems here, wherever they come from.
	generated := bytes.ReplaceAll(proto.OpenAPI, []byte("#/definitions/rpcStatus"), []byte("#/definitions/Problem"))
	var doc, change map[string]any
	if err := json.Unmarshal(generated, &doc); err != nil {
		return nil, fmt.Errorf("OpenAPI of the protos: %w", err)
	}
	if err := json.Unmarshal(patch, &change); err != nil {
		return nil, fmt.Errorf("OpenAPI by hand: %w", err)
	}
	merge(doc, change)
	prune(doc)
	return json.MarshalIndent(doc, "", "  ")
}

// merge applies a merge patch.
func merge(doc, patch map[string]any) {
	for name, value := range patch {
		change, nested := value.(map[string]any)
		switch old, ok := doc[name].(map[string]any); {
		case value == nil:
			delete(doc, name)
		case nested && ok:
			merge(old, change)
		case nested:
			fresh := map[string]any{}
			merge(fresh, change)
			doc[name] = fresh
		default:
			doc[name] = value
		}
	}
}

// prune removes definitions that nothing refers to: those of answers of which only a member is sent.
func prune(doc map[string]any) {
	all, _ := doc["definitions"].(map[string]any)
	used := map[string]bool{}
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if ref, ok := value["$ref"].(string); ok {
				name := ref[len("#/definitions/"):]
				if !used[name] {
					used[name] = true
					visit(all[name])
				}
			}
			for _, name := range slices.Sorted(maps.Keys(value)) {
				visit(value[name])
			}
		case []any:
			for _, item := range value {
				visit(item)
			}
		}
	}
	visit(doc["paths"])
	maps.DeleteFunc(all, func(name string, _ any) bool { return !used[name] })
}
