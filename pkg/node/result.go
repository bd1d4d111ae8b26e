package node

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Result is what a tool answers (docs/protocols/zeus-nodes.md#results).
type Result struct {
	Content []Content
	// IsError says that the tool ran and failed: the agent reads Content to learn why.
	IsError bool
	// Screenshot is an image for people to look at, sent as `_screenshot`. Empty sends none.
	Screenshot []byte
	// Fields are further members of the result, for callers who read data rather than text. Their names must not be
	// those of the documented members (docs/protocols/zeus-nodes.md#results).
	Fields map[string]any
}

// Content is one item of a result: a [TextContent] or an [ImageContent].
type Content interface {
	appendJSON([]byte) []byte
}

// TextContent is text. Bytes that are not UTF-8 reach the caller as U+FFFD.
type TextContent struct{ Text string }

// ImageContent is an image; MimeType is for example image/png.
type ImageContent struct {
	Data     []byte
	MimeType string
}

// Text returns a result with one text.
func Text(text string) Result { return Result{Content: []Content{TextContent{text}}} }

// Image returns a result with one image.
func Image(data []byte, mimeType string) Result {
	return Result{Content: []Content{ImageContent{data, mimeType}}}
}

// Errorf returns a result that says why the tool failed. Unlike an error from the handler it is an answer of the tool,
// which agents read and act on.
func Errorf(format string, args ...any) Result {
	r := Text(fmt.Sprintf(format, args...))
	r.IsError = true
	return r
}

func (c TextContent) appendJSON(b []byte) []byte {
	b = append(b, `{"type":"text","text":`...)
	return append(jsonrpc.AppendString(b, c.Text), '}')
}

func (c ImageContent) appendJSON(b []byte) []byte {
	b = append(b, `{"type":"image","data":"`...)
	b = base64.StdEncoding.AppendEncode(b, c.Data)
	b = append(b, `","mimeType":`...)
	return append(jsonrpc.AppendString(b, c.MimeType), '}')
}

// answer returns the frame of a result, its members in the documented order.
func (r Result) answer(id callID) ([]byte, error) {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"result":{"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			b = append(b, ',')
		}
		if c == nil {
			return nil, fmt.Errorf("content %d of the result is nil", i)
		}
		b = c.appendJSON(b)
	}
	b = fmt.Appendf(b, `],"isError":%t`, r.IsError)
	if len(r.Screenshot) > 0 {
		b = append(b, `,"_screenshot":"`...)
		b = base64.StdEncoding.AppendEncode(b, r.Screenshot)
		b = append(b, '"')
	}
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		if name == "content" || name == "isError" || name == "_screenshot" {
			return nil, fmt.Errorf("the result's field %q is one of the protocol's own", name)
		}
		value, err := encode(r.Fields[name])
		if err != nil {
			return nil, fmt.Errorf("the result's field %q: %w", name, err)
		}
		b = jsonrpc.AppendString(append(b, ','), name)
		b = append(append(b, ':'), value...)
	}
	return append(b, "}}"...), nil
}
