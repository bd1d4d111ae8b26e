package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// answer is what a tool said.
type answer struct {
	raw     []byte          // as it came
	jsonrpc json.RawMessage // the JSON-RPC error; nil where there is a result
	ok      bool            // the tool did not say that it failed
	content []content       // nil where the result has none
	result  json.RawMessage
	shot    string // _screenshot or, by REST, screenshot_url
}

// content is one item of a result (docs/protocols/zeus-nodes.md#results).
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
}

// newAnswer reads a result. Any JSON is one; only an object has members that mean something here.
func newAnswer(result []byte) (*answer, error) {
	if !json.Valid(result) {
		return nil, &outcomeError{errs.Unknown, errors.New("the result is not JSON")}
	}
	a := &answer{raw: result, result: result, ok: true}
	var members struct {
		Content       []content       `json:"content"`
		IsError       json.RawMessage `json:"isError"`
		Screenshot    string          `json:"_screenshot"`
		ScreenshotURL string          `json:"screenshot_url"`
	}
	if json.Unmarshal(result, &members) == nil {
		a.content, a.ok = members.Content, string(members.IsError) != "true"
		a.shot = members.Screenshot + members.ScreenshotURL
	}
	return a, nil
}

// text is all that the tool said in words.
func (a *answer) text() string {
	if a.jsonrpc != nil {
		return string(a.jsonrpc)
	}
	var b strings.Builder
	for _, c := range a.content {
		if c.Type == "text" {
			b.WriteString(c.Text)
			if !strings.HasSuffix(c.Text, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// errTool is a result that says the tool failed; what it says has been printed.
var errTool = errors.New("the tool says that it failed")

// print writes the answer for people, or as it came. The error is the tool's.
func (a *answer) print(e Env, cfg callConfig) error {
	switch {
	case cfg.JSON:
		fmt.Fprintf(e.Stdout, "%s\n", a.raw)
	case a.jsonrpc != nil:
	case a.content == nil:
		fmt.Fprintf(e.Stdout, "%s\n", indented(a.result))
	default:
		fmt.Fprint(e.Stdout, a.text())
	}
	if err := a.saveImages(e, cfg); err != nil {
		return err
	}
	switch {
	case a.jsonrpc != nil:
		return fmt.Errorf("the tool failed: %s", a.jsonrpcText())
	case !a.ok:
		return errTool
	}
	return nil
}

func (a *answer) jsonrpcText() string {
	var e struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
	}
	if json.Unmarshal(a.jsonrpc, &e) != nil || e.Message == "" {
		return string(a.jsonrpc)
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

func indented(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// saveImages writes the images to files, or says that there are some.
func (a *answer) saveImages(e Env, cfg callConfig) error {
	images := a.images()
	for i, image := range images {
		if cfg.Out == "" {
			if !cfg.JSON {
				fmt.Fprintf(e.Stdout, "[%s, about %d bytes; --out FILE saves it]\n", printable(image.MimeType), len(image.Data)/4*3)
			}
			continue
		}
		data, err := base64.StdEncoding.DecodeString(image.Data)
		if err != nil {
			return fmt.Errorf("image %d is not base64: %w", i+1, err)
		}
		name := numbered(cfg.Out, i+1)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "saved %s (%s, %d bytes)\n", name, printable(image.MimeType), len(data))
	}
	if cfg.Out != "" && len(images) == 0 && a.jsonrpc == nil && a.ok {
		return fmt.Errorf("there is no image to save as %s", cfg.Out)
	}
	return nil
}

// images are those of the content; the screenshot for people counts where there is no other.
func (a *answer) images() []content {
	var images []content
	for _, c := range a.content {
		if c.Type == "image" {
			images = append(images, c)
		}
	}
	if len(images) > 0 || a.shot == "" {
		return images
	}
	head, data, isURL := strings.Cut(a.shot, ";base64,")
	if !isURL {
		return []content{{MimeType: "image", Data: a.shot}}
	}
	return []content{{MimeType: strings.TrimPrefix(head, "data:"), Data: data}}
}

// numbered is the nth file's name: shot.png, shot-2.png.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}
