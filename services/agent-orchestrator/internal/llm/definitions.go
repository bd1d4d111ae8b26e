package llm

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// maxDefinitions bounds the definitions of tools that are kept encoded, in bytes.
const maxDefinitions = 8 << 20

// definitions encodes the tools of requests. They are most of a request, and the same in nearly all of them: each is encoded
// once. It is safe for concurrent use.
type definitions struct {
	mu      sync.Mutex
	encoded map[string][]byte // by everything that a tool is; guarded by mu
	size    int               // bytes of encoded, with its keys; guarded by mu
}

// list returns the JSON list of tools; nil for none.
func (d *definitions) list(tools []Function) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var list, key []byte
	for i := range tools {
		f := &tools[i]
		key = append(key[:0], f.Name...)
		key = append(append(key, 0), f.Description...)
		key = append(append(key, 0), f.Parameters...)
		one, ok := d.encoded[string(key)]
		if !ok {
			var err error
			if one, err = d.add(string(key), f); err != nil {
				return nil, err
			}
		}
		list = append(append(list, ','), one...)
	}
	list[0] = '['
	return append(list, ']'), nil
}

// add encodes a tool. It is called with mu held.
func (d *definitions) add(key string, f *Function) ([]byte, error) {
	one, err := json.Marshal(openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: f.Name, Description: f.Description, Parameters: schema(f.Parameters),
	}})
	if err != nil {
		return nil, err
	}
	if d.encoded == nil || d.size > maxDefinitions {
		d.encoded, d.size = map[string][]byte{}, 0
	}
	d.encoded[key] = one
	d.size += len(key) + len(one)
	return one, nil
}

// addTools adds a list of tools to the body of a request, a JSON object that has other members.
func addTools(r *http.Request, tools []byte) error {
	if tools == nil {
		return nil
	}
	object, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	const member = `,"tools":`
	body := make([]byte, 0, len(object)+len(member)+len(tools))
	body = append(body, bytes.TrimSuffix(object, []byte("}"))...)
	body = append(append(append(body, member...), tools...), '}')
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, err = r.GetBody()
	return err
}
