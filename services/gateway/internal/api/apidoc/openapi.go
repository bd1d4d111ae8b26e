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

// bases is another one, of knowledge bases.
//
//go:embed knowledge.swagger.json
var bases []byte

// OpenAPI returns the description of everything that a gateway serves.
func OpenAPI() ([]byte, error) {
	// Errors are problems here, wherever they come from.
	generated := bytes.ReplaceAll(proto.OpenAPI, []byte("#/definitions/rpcStatus"), []byte("#/definitions/Problem"))
	var doc map[string]any
	if err := json.Unmarshal(generated, &doc); err != nil {
		return nil, fmt.Errorf("OpenAPI of the protos: %w", err)
	}
	for _, written := range [][]byte{patch, bases} {
		var change map[string]any
		if err := json.Unmarshal(written, &change); err != nil {
			return nil, fmt.Errorf("OpenAPI by hand: %w", err)
		}
		merge(doc, change)
	}
	guarded(doc)
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

// guarded says of every operation what the edge's guard, which stands before all of them, may answer.
func guarded(doc map[string]any) {
	forbidden := problem("The request came from a web page or extension that may not call, or to a name that is not served here; nothing was " +
		"done. `reason` is ORIGIN_REFUSED or HOST_REFUSED, and `detail` names the flag that lets it in. Or the scopes of the token do not " +
		"cover this: INSUFFICIENT_SCOPE.")
	unsupported := problem("The body was not sent as Content-Type: application/json; nothing was done. `reason` is CONTENT_TYPE_REFUSED.")
	paths, _ := doc["paths"].(map[string]any)
	for _, operations := range paths {
		operations, _ := operations.(map[string]any)
		for _, operation := range operations {
			operation, _ := operation.(map[string]any)
			responses, ok := operation["responses"].(map[string]any)
			if !ok || responses["default"] == nil {
				continue
			}
			responses["403"], responses["429"] = forbidden, limitMet
			if takesJSON(operation) {
				responses["415"] = unsupported
			}
		}
	}
}

// limitMet is how an operation tells its user of a limit.
var limitMet = func() map[string]any {
	whole := func(what string) map[string]any { return map[string]any{"type": "integer", "description": what} }
	answer := problem("A limit of the user was met, or of the address from which logins fail; nothing was done. " +
		"`reason` is RATE_LIMITED, RUNS_LIMITED or STORAGE_FULL.")
	answer["headers"] = map[string]any{
		"Retry-After":         whole("seconds until the request could pass"),
		"RateLimit-Limit":     whole("how much there is in all; of a rate what can be had at once"),
		"RateLimit-Remaining": whole("how much of it is left"),
		"RateLimit-Reset":     whole("seconds, as Retry-After"),
	}
	return answer
}()

func problem(description string) map[string]any {
	return map[string]any{"description": description, "schema": map[string]any{"$ref": "#/definitions/Problem"}}
}

// takesJSON reports whether an operation has a body that is JSON: that of a file is not.
func takesJSON(operation map[string]any) bool {
	if consumes, ok := operation["consumes"].([]any); ok && !slices.Contains(consumes, any("application/json")) {
		return false
	}
	parameters, _ := operation["parameters"].([]any)
	return slices.ContainsFunc(parameters, func(p any) bool {
		parameter, _ := p.(map[string]any)
		return parameter["in"] == "body"
	})
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
