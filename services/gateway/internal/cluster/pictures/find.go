package pictures

import (
	"bytes"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolresult"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

var (
	screenshot = []byte(`_screenshot"`)
	imageBlock = []byte(`"image"`)
)

// least is the length of the shortest answer that is looked at: there is no smaller picture of anything.
const least = 128

// find returns the picture of an answer, a frame of validated JSON: that in `_screenshot`, else the last image of its content. Most
// answers have none, and are only searched for the word. The picture is a part of the frame, and may be anything that a JSON string holds.
func find(frame []byte) (picture []byte, kind string) {
	if len(frame) < least || !bytes.Contains(frame, screenshot) && !bytes.Contains(frame, imageBlock) {
		return nil, ""
	}
	result := jsonrpc.Locate(frame).Result
	if !jsonrpc.IsObject(result) {
		return nil, ""
	}
	var shot, content []byte
	jsonrpc.Members(result, func(name, value []byte) {
		switch string(name) {
		case "_screenshot":
			shot = value
		case "content":
			content = value
		}
	})
	if picture = jsonrpc.Inside(shot); len(picture) == 0 && len(content) > 0 && content[0] == '[' {
		jsonrpc.Elements(content, func(element []byte) {
			if data := imageOf(element); len(data) > 0 {
				picture = data
			}
		})
	}
	if rest, ok := bytes.CutPrefix(picture, []byte("data:")); ok {
		if head, data, found := bytes.Cut(rest, []byte(";base64,")); found && isImage(head) {
			return data, string(head)
		}
	}
	return picture, toolresult.MediaType(picture)
}

// isImage reports whether a text is the media type of a picture, in plain letters.
func isImage(kind []byte) bool {
	name, ok := bytes.CutPrefix(kind, []byte("image/"))
	return ok && len(name) > 0 && len(name) < 32 && len(bytes.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.+-")) == 0
}

// imageOf returns the data of an image block; nil for another block.
func imageOf(block []byte) (data []byte) {
	if !jsonrpc.IsObject(block) || jsonrpc.StringMember(block, "type") != "image" {
		return nil
	}
	jsonrpc.Members(block, func(name, value []byte) {
		if string(name) == "data" {
			data = jsonrpc.Inside(value)
		}
	})
	return data
}

// isBase64 reports whether what stands inside a JSON string is base64; a slash may be written as JSON allows.
func isBase64(picture []byte) bool {
	for i := 0; i < len(picture); i++ {
		switch c := picture[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '=', c == '-', c == '_':
		case c == '\\' && i+1 < len(picture) && picture[i+1] == '/':
			i++
		default:
			return false
		}
	}
	return len(picture) > 0
}
