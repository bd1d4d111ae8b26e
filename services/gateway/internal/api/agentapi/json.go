package agentapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// The encoder of events appends: encoding/json would take a struct for each event and look at its type, for every token
// of every run. Each function below adds one member to an object that has one before it.

func addString(b []byte, name, value string) []byte {
	return jsonrpc.AppendString(addName(b, name), value)
}

// addText is addString for members that are only there where they say something.
func addText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return addString(b, name, value)
}

func addInt(b []byte, name string, value int64) []byte {
	return strconv.AppendInt(addName(b, name), value, 10)
}

func addBool(b []byte, name string, value bool) []byte {
	return strconv.AppendBool(addName(b, name), value)
}

// addObject adds what should be a JSON object, on one line. What is no JSON at all becomes a string: an event must not be
// lost for it.
func addObject(b []byte, name string, raw []byte) []byte {
	b = addName(b, name)
	if len(raw) == 0 {
		return append(b, "{}"...)
	}
	if !utf8.Valid(raw) { // inside strings, package json would let it pass
		return jsonrpc.AppendString(b, string(raw))
	}
	out := bytes.NewBuffer(b)
	if json.Compact(out, raw) != nil {
		return jsonrpc.AppendString(b, string(raw))
	}
	return out.Bytes()
}

func addBase64(b []byte, name string, data []byte) []byte {
	b = append(addName(b, name), '"')
	return append(base64.StdEncoding.AppendEncode(b, data), '"')
}

func addTime(b []byte, name string, at *timestamppb.Timestamp) []byte {
	if !at.IsValid() {
		return b
	}
	b = append(addName(b, name), '"')
	return append(at.AsTime().AppendFormat(b, time.RFC3339Nano), '"')
}

// addName writes names of our own, in which nothing has to be escaped.
func addName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}
