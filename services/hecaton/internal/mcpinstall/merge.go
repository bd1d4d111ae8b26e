package mcpinstall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// Merge returns a configuration with the entry in it, in the place of one of the same name. All else stays as it is, comments
// too. Empty text is an empty configuration.
func (c Client) Merge(text []byte, name string, e Entry) ([]byte, error) {
	if strings.TrimSpace(string(text)) == "" {
		return []byte(c.Text(name, e)), nil
	}
	doc, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON, and is left as it is: %w", err)
	}
	plain, err := hujson.Standardize(bytes.Clone(text))
	var top map[string]json.RawMessage
	if err != nil || json.Unmarshal(plain, &top) != nil || top == nil {
		return nil, errors.New("it is no JSON object, and is left as it is")
	}
	var servers map[string]json.RawMessage
	value, there := top[c.key]
	if there && (json.Unmarshal(value, &servers) != nil || servers == nil) {
		return nil, fmt.Errorf("%q in it is no object, and is left as it is", c.key)
	}
	var old Entry
	if json.Unmarshal(servers[name], &old) == nil && reflect.DeepEqual(old, e) {
		return text, nil
	}
	type change struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	pointer := func(s string) string { return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
	var patch []change
	if !there {
		patch = append(patch, change{"add", pointer(c.key), struct{}{}})
	}
	raw, err := json.Marshal(append(patch, change{"add", pointer(c.key) + pointer(name), e}))
	if err != nil {
		return nil, err
	}
	if err := doc.Patch(raw); err != nil {
		return nil, fmt.Errorf("the entry cannot be added: %w", err)
	}
	out := doc.Pack()
	if err := check(out, c.key, name, e); err != nil {
		return nil, err
	}
	return out, nil
}

// check reads the result as a client does.
func check(out []byte, key, name string, e Entry) error {
	plain, err := hujson.Standardize(bytes.Clone(out))
	if err != nil {
		return err
	}
	var top map[string]json.RawMessage
	var servers map[string]json.RawMessage
	var got Entry
	if err := json.Unmarshal(plain, &top); err != nil {
		return err
	}
	if err := json.Unmarshal(top[key], &servers); err != nil {
		return err
	}
	if err := json.Unmarshal(servers[name], &got); err != nil {
		return err
	}
	if got.Command != e.Command || got.URL != e.URL {
		return fmt.Errorf("%q is in it twice, and it is left as it is", key)
	}
	return nil
}
