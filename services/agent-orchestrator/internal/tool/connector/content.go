package connector

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// item reads one item of a content: those of MCP, {type, data, …} of a ToolResult, or a bare text.
func (r *reading) item(raw json.RawMessage) {
	var item struct {
		Type     string          `json:"type"`
		Text     *string         `json:"text"`
		Data     json.RawMessage `json:"data"`
		MIMEType string          `json:"mimeType"`
		URI      string          `json:"uri"`
		Name     string          `json:"name"`
		Resource *resource       `json:"resource"`
	}
	if json.Unmarshal(raw, &item) != nil {
		r.value(raw)
		return
	}
	data := text(item.Data)
	switch {
	case item.Type == "image" && data != "":
		r.image(data, item.MIMEType)
	case item.Type == "audio" && data != "":
		r.file(data, item.MIMEType)
	case item.Type == "resource" && item.Resource != nil:
		r.resource(item.Resource)
	case item.Type == "resource_link" && item.URI != "":
		r.say(strings.TrimSpace(item.Name + " " + item.URI))
	case item.Text != nil:
		r.say(*item.Text)
	case !null(item.Data): // text, html, markdown, code, json or error of a ToolResult
		r.isError = r.isError || item.Type == "error"
		r.value(item.Data)
	default:
		r.value(raw)
	}
}

// resource is an embedded resource of MCP.
type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

func (r *reading) resource(res *resource) {
	switch {
	case res.Text != nil:
		r.say(*res.Text)
	case res.Blob != "":
		r.file(res.Blob, res.MIMEType)
	default:
		r.say(res.URI)
	}
}

// image adds a picture.
func (r *reading) image(encoded, mimeType string) {
	declared, data, ok := decode(encoded, mimeType)
	if !ok {
		r.say("[an image was left out: it is not base64]")
		return
	}
	r.add(tool.Artifact{Type: "image", MIMEType: declared, Data: data})
}

func (r *reading) file(encoded, mimeType string) {
	declared, data, ok := decode(encoded, mimeType)
	if !ok {
		r.say("[a file was left out: it is not base64]")
		return
	}
	r.add(tool.Artifact{Type: "file", MIMEType: declared, Data: data})
}

// add keeps an artifact, once: some nodes send a picture as content and as _screenshot. Its type comes from its bytes, if
// they show it.
func (r *reading) add(a tool.Artifact) {
	for _, have := range r.images {
		if bytes.Equal(have.Data, a.Data) {
			return
		}
	}
	if len(r.images) == maxArtifacts {
		r.left++
		return
	}
	if sniffed := http.DetectContentType(a.Data); strings.HasPrefix(sniffed, "image/") {
		a.Type, a.MIMEType = "image", sniffed
	} else {
		// Bytes that claim to be an image, but are none that we know, are not shown as one.
		a.Type = "file"
		if kind, _, err := mime.ParseMediaType(a.MIMEType); err != nil || strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" {
			a.MIMEType = "application/octet-stream"
		}
	}
	r.images = append(r.images, a)
}

// decode reads base64 in any of its variants, or a data: URL with base64.
func decode(encoded, declared string) (mimeType string, data []byte, ok bool) {
	if rest, is := strings.CutPrefix(encoded, "data:"); is {
		head, body, found := strings.Cut(rest, ",")
		kind, base64ed := strings.CutSuffix(head, ";base64")
		if !found || !base64ed {
			return "", nil, false
		}
		encoded = body
		if kind != "" {
			declared = kind
		}
	}
	data, err := base64.RawStdEncoding.DecodeString(alphabet.Replace(encoded))
	if err != nil || len(data) == 0 {
		return "", nil, false
	}
	return declared, data, true
}

// alphabet turns the variants of base64 into one: no line breaks, no padding, + and /.
var alphabet = strings.NewReplacer("\r", "", "\n", "", " ", "", "=", "", "-", "+", "_", "/")
