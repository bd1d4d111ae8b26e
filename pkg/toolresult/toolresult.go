// Package toolresult is the shape in which REST shows what a node answered (docs/architecture.md, "REST results").
package toolresult

import (
	"encoding/json"
	"strings"
)

// View returns what a caller gets of a node's result, and whether the tool succeeded. A result with `content` gains `text`,
// and `screenshot_url` in place of `_screenshot`; any other passes as it is.
func View(raw json.RawMessage) (result any, success bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw, true
	}
	success = string(members["isError"]) != "true"
	var content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if members["content"] == nil || json.Unmarshal(members["content"], &content) != nil {
		return raw, success
	}
	texts := make([]string, 0, len(content))
	for _, c := range content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	out := make(map[string]any, len(members)+1)
	for name, value := range members {
		out[name] = value
	}
	delete(out, "_screenshot")
	out["text"] = strings.Join(texts, "\n")
	var shot string
	if json.Unmarshal(members["_screenshot"], &shot) == nil && shot != "" {
		out["screenshot_url"] = dataURL(shot)
	}
	return out, success
}

// dataURL makes a base64 picture a data: URL; one that is a data: URL already stays. JPEG begins with FF D8 FF.
func dataURL(picture string) string {
	switch {
	case strings.HasPrefix(picture, "data:"):
		return picture
	case strings.HasPrefix(picture, "/9j/"):
		return "data:image/jpeg;base64," + picture
	case strings.HasPrefix(picture, "UklGR"):
		return "data:image/webp;base64," + picture
	}
	return "data:image/png;base64," + picture
}
