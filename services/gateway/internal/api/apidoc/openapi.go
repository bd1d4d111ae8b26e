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
	limited(doc)
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

// limited adds to every operation that a limit of the user may refuse it: the edge's guard stands before all of them.
func limited(doc map[string]any) {
	whole := func(what string) map[string]any { return map[string]any{"type": "integer", "description": what} }
	answer := map[string]any{
		"description": "A limit of the user was met, or of the address from which logins fail; nothing was done. " +
			"`reason` is RATE_LIMITED, RUNS_LIMITED or STORAGE_FULL.",
		"schema": map[string]any{"$ref": "#/definitions/Problem"},
		"headers": map[string]any{
			"Retry-After":         whole("seconds until the request could pass"),
			"RateLimit-Limit":     whole("how much there is in all; of a rate what can be had at once"),
			"RateLimit-Remaining": whole("how much of it is left"),
			"RateLimit-Reset":     whole("seconds, as Retry-After"),
		},
	}
	paths, _ := doc["paths"].(map[string]any)
	for _, operations := range paths {
		operations, _ := operations.(map[string]any)
		for _, operation := range operations {
			operation, _ := operation.(map[string]any)
			if responses, ok := operation["responses"].(map[string]any); ok && responses["default"] != nil {
				responses["429"] = answer
			}
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
