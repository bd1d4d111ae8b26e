package llm

import "github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"

// justText returns the text of a document that is a piece of text and nothing else, as most are. ok is false for every
// other document, and for whatever is unusual about one: those are decoded as a chunk.
func justText(document []byte) (text []byte, ok bool) {
	if jsonrpc.Valid(document) != nil {
		return nil, false
	}
	ok = true
	var choice []byte
	jsonrpc.Members(document, func(name, value []byte) {
		switch string(name) {
		case "id", "object", "created", "model", "system_fingerprint", "service_tier":
		case "choices":
			ok = ok && choice == nil && value[0] == '['
			choice = onlyElement(value)
		default:
			ok = ok && string(name) == "usage" && jsonrpc.IsNull(value)
		}
	})
	if !ok || !jsonrpc.IsObject(choice) {
		return nil, false
	}
	var delta []byte
	jsonrpc.Members(choice, func(name, value []byte) {
		switch string(name) {
		case "index":
			ok = ok && string(value) == "0"
		case "delta":
			ok = ok && delta == nil && value[0] == '{'
			delta = value
		default:
			ok = ok && (string(name) == "finish_reason" || string(name) == "logprobs") && jsonrpc.IsNull(value)
		}
	})
	if !ok || delta == nil {
		return nil, false
	}
	jsonrpc.Members(delta, func(name, value []byte) {
		switch string(name) {
		case "role":
		case "content":
			ok = ok && text == nil && value[0] == '"'
			text = jsonrpc.Text(value)
		default:
			ok = ok && (string(name) == "refusal" || string(name) == "tool_calls") && jsonrpc.IsNull(value)
		}
	})
	return text, ok && len(text) > 0
}

// onlyElement returns the element of a list that has one; else nil.
func onlyElement(list []byte) (only []byte) {
	n := 0
	jsonrpc.Elements(list, func(element []byte) {
		only = element
		n++
	})
	if n != 1 {
		return nil
	}
	return only
}
