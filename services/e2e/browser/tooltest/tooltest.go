package tooltest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"
)

// patience bounds a call: the 60 s that a gateway waits for an answer.
const patience = 60 * time.Second

// Caller runs one tool of a node and returns the `result` member of its JSON-RPC answer as the node sent it, or an
// *Error where the node answered with one.
type Caller func(ctx context.Context, tool string, arguments map[string]any) (json.RawMessage, error)

// Error is the `error` member of a JSON-RPC answer.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Result is a tool's result (docs/protocols/zeus-nodes.md#results), and for the extension the tab that it was about.
type Result struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MimeType string `json:"mimeType"`
	} `json:"content"`
	IsError    bool   `json:"isError"`
	Screenshot string `json:"_screenshot"`
	TabID      int    `json:"tabId"`
}

// Run calls a tool that must succeed.
func (call Caller) Run(t testing.TB, tool string, arguments map[string]any) Result {
	t.Helper()
	raw, err := call.Try(t, tool, arguments)
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	var r Result
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if r.IsError || len(r.Content) == 0 || r.Content[0].Type != "text" {
		t.Fatalf("%s: want a result that begins with text, got %.300s", tool, raw)
	}
	return r
}

// Fail calls a tool that must answer with this error code, and with a message that contains the text.
func (call Caller) Fail(t testing.TB, code int, text, tool string, arguments map[string]any) {
	t.Helper()
	raw, err := call.Try(t, tool, arguments)
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("%s %v: want error %d, got %v %.300s", tool, arguments, code, err, raw)
	}
	if failure.Code != code || !strings.Contains(failure.Message, text) {
		t.Fatalf("%s %v: want error %d with %q, got %v", tool, arguments, code, text, failure)
	}
}

// Try calls a tool that may fail. Nil arguments are none.
func (call Caller) Try(t testing.TB, tool string, arguments map[string]any) (json.RawMessage, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if arguments == nil {
		arguments = map[string]any{}
	}
	return call(ctx, tool, arguments)
}

// Picture takes a screenshot of the extension and decodes it.
func (call Caller) Picture(t testing.TB, arguments map[string]any) (Result, image.Image) {
	t.Helper()
	r := call.Run(t, "screenshot", arguments)
	if len(r.Content) != 2 || r.Content[1].Type != "image" || r.Content[1].MimeType != "image/png" {
		t.Fatalf("want a text and a PNG, got %d content items", len(r.Content))
	}
	if r.Screenshot == "" || r.Content[1].Data != r.Screenshot {
		t.Fatal("_screenshot is not the image's data")
	}
	data, err := base64.StdEncoding.DecodeString(r.Screenshot)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r, img
}
