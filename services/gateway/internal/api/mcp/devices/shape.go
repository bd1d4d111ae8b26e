package devices

import (
	"bytes"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolresult"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// shape makes an MCP result of what a device answered, which is validated JSON: of slices of it, so that a picture costs nothing.
//
// A result with a list as its `content` passes as it is, without the members that are the server's to set. A picture in `_screenshot`,
// as Zeus' nodes send it, becomes a part of the content. Anything else becomes a text.
func shape(raw []byte) catalogue.Result {
	var content, failed, structured, meta, screenshot []byte
	var rest [][]byte
	jsonrpc.Members(raw, func(name, value []byte) {
		switch string(name) {
		case "content":
			content = value
		case "isError":
			failed = value
		case "structuredContent":
			structured = value
		case "_meta":
			meta = value
		case "_screenshot":
			screenshot = value
		case "resultType", "requestState", "inputRequests", "ttlMs", "cacheScope":
		default:
			rest = append(rest, jsonrpc.AppendString([]byte(`,`), string(name)), []byte(`:`), value)
		}
	})
	if len(content) == 0 || content[0] != '[' {
		return plain(raw, failed)
	}
	members := append(make([][]byte, 0, len(rest)+8), []byte(`"content":[`))
	inner := bytes.TrimSpace(content[1 : len(content)-1])
	members = append(members, inner)
	if picture := jsonrpc.Inside(screenshot); len(picture) > 0 {
		if len(inner) > 0 {
			members = append(members, []byte(`,`))
		}
		members = append(members, image(picture)...)
	}
	members = append(members, []byte(`]`))
	if string(failed) == "true" || string(failed) == "false" {
		members = append(members, []byte(`,"isError":`), failed)
	}
	if jsonrpc.IsObject(structured) {
		members = append(members, []byte(`,"structuredContent":`), structured)
	}
	return catalogue.Result{Members: append(members, rest...), Meta: own(meta)}
}

// plain is the result of a device that does not answer as MCP does.
func plain(raw, failed []byte) catalogue.Result {
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), string(text(raw)))
	b = append(b, `}],"isError":`...)
	if string(failed) == "true" {
		return catalogue.Result{Members: [][]byte{append(b, `true`...)}}
	}
	return catalogue.Result{Members: [][]byte{append(b, `false`...)}}
}

// text is what a value says: a string its text, anything else itself.
func text(raw []byte) []byte {
	if t := jsonrpc.Text(raw); t != nil {
		return t
	}
	return raw
}

// own is what a device may say in `_meta`: what bears no name of the specification's or of ours.
func own(meta []byte) (b []byte) {
	if !jsonrpc.IsObject(meta) {
		return nil
	}
	jsonrpc.Members(meta, func(name, value []byte) {
		if bytes.HasPrefix(name, []byte("io.modelcontextprotocol/")) || bytes.HasPrefix(name, []byte("dev.hecaton/")) {
			return
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(append(jsonrpc.AppendString(b, string(name)), ':'), value...)
	})
	return b
}

// image is an image block: of base64, or of a data: URL. picture stands as it is written inside its quotes.
func image(picture []byte) [][]byte {
	kind := []byte(toolresult.MediaType(picture))
	if rest, ok := bytes.CutPrefix(picture, []byte("data:")); ok {
		if head, data, found := bytes.Cut(rest, []byte(";base64,")); found {
			kind, picture = head, data
		}
	}
	return [][]byte{[]byte(`{"type":"image","mimeType":"`), kind, []byte(`","data":"`), picture, []byte(`"}`)}
}
