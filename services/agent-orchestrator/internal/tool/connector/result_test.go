package connector

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

var (
	png  = []byte("\x89PNG\x0D\x0A\x1A\x0A and so on?>")
	jpeg = []byte("\xFF\xD8\xFF\xE0 and so on")
)

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func resultOf(raw string) tool.Result {
	return read(&toolv1.Answer{Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(raw)}})
}

// sketch is a result on one line: !text | type mime, ...
func sketch(r tool.Result) string {
	out := r.Text
	if r.IsError {
		out = "!" + out
	}
	for _, a := range r.Artifacts {
		out += fmt.Sprintf(" | %s %s %d", a.Type, a.MIMEType, len(a.Data))
	}
	return out
}

func TestResults(t *testing.T) {
	t.Parallel()
	pngs, jpegs := fmt.Sprintf(" | image image/png %d", len(png)), fmt.Sprintf(" | image image/jpeg %d", len(jpeg))
	for raw, want := range map[string]string{
		// Content (docs/protocols/zeus-nodes.md#results).
		`{"content":[{"type":"text","text":"Clicked element successfully"},{"type":"text","text":"twice"}],"isError":false}`:   "Clicked element successfully\ntwice",
		`{"content":[{"type":"text","text":"no such element"}],"isError":true}`:                                                "!no such element",
		`{"content":[{"type":"text","text":"shot"},{"type":"image","data":"` + b64(jpeg) + `","mimeType":"image/jpeg"}]}`:      "shot" + jpegs,
		`{"content":[{"type":"image","data":"` + b64(png) + `","mimeType":"image/jpeg"}]}`:                                     "[1 image(s) or file(s), without text]" + pngs, // its bytes decide
		`{"content":[{"type":"text","text":"shot"}],"_screenshot":"` + b64(png) + `"}`:                                         "shot" + pngs,
		`{"content":[{"type":"text","text":"s"},{"type":"image","data":"` + b64(png) + `"}],"_screenshot":"` + b64(png) + `"}`: "s" + pngs, // once
		`{"content":[{"type":"text","text":"out"}],"stdout":"out","exit_code":0}`:                                              "out",
		`{"content":[],"structuredContent":{"n": 1}}`:                                                                          `{"n":1}`,
		`{"content":[]}`:   "[the node answered without a result]",
		`{"content":"hi"}`: "hi",
		`{"content":null}`: "[the node answered without a result]",
		`{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"inside"}},{"type":"resource_link","name":"b","uri":"file:///b"},7,{"type":"new","x":1}]}`: "inside\nb file:///b\n7\n" + `{"type":"new","x":1}`,
		`{"content":[{"type":"resource","resource":{"uri":"x:/a.zip","mimeType":"application/zip","blob":"UEsDBA=="}}]}`:                                                "[1 image(s) or file(s), without text] | file application/zip 4",
		// ToolResult (docs/protocols/zeus-agents.md#results).
		`{"success":true,"message":"done","content":{"type":"markdown","data":"# Hi","title":"t"},"file_path":"out/a.md"}`: "done\n# Hi\nFile: out/a.md",
		`{"success":true,"message":"","content":{"type":"json","data":{"a": 1}}}`:                                          `{"a":1}`,
		`{"success":true,"content":{"type":"image","data":"data:image/jpeg;base64,` + b64(jpeg) + `"}}`:                    "[1 image(s) or file(s), without text]" + jpegs,
		`{"success":false,"message":"it failed"}`:                                                                          "!it failed",
		`{"success":false,"error":"it failed"}`:                                                                            "!it failed",
		`{"success":true,"content":{"type":"error","data":"it failed"}}`:                                                   "!it failed",
		`{"success":true,"content":"plain"}`:                                                                               "plain",
		`{"success":true}`:                                                                                                 "[the node answered without a result]",
		`{"success":true,"message":"ok","stdout":"a<b","exit_code":0}`:                                                     "ok\n" + `{"exit_code":0,"stdout":"a<b"}`,
		`{"success":true,"screenshot_url":"data:image/png;base64,` + b64(png) + `"}`:                                       "[1 image(s) or file(s), without text]" + pngs,
		`{"screenshot_url":"https://example.org/a.png"}`:                                                                   `{"screenshot_url":"https://example.org/a.png"}`,
		// Anything else.
		`"text"`:              "text",
		`{ "stdout" : "hi" }`: `{"stdout":"hi"}`,
		`[1, 2]`:              "[1,2]",
		`null`:                "[the node answered without a result]",
		``:                    "[the node answered without a result]",
		`true`:                "true",
		`{}`:                  "[the node answered without a result]",
		// What is broken is survived, and nothing that follows cannot be kept.
		`{"content":[{"type":"image","data":"%%%"},{"type":"text","text":"still"}]}`:                                "[an image was left out: it is not base64]\nstill",
		`{"content":[{"type":"text","text":"shot"}],"_screenshot":"data:image/png,raw"}`:                            "shot\n[an image was left out: it is not base64]",
		`{"content":[{"type":"image","data":"aGVsbG8gd29ybGQ","mimeType":"image/png"},{"type":"text","text":"x"}]}`: "x | file application/octet-stream 11", // calls itself an image
		`{"content":[{"type":"text","text":"a\u0000b` + "\xff" + `"}]}`:                                             "a\uFFFDb\uFFFD",
		`{"content":[{"type":5}]}`: `{"type":5}`,
		`{"cont`:                   `{"cont`,
	} {
		if got := sketch(resultOf(raw)); got != want {
			t.Errorf("%s\n got %q\nwant %q", raw, got, want)
		}
	}
}

func TestErrorsOfNodes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"code":-32603,"message":"Element not found"}`:          "!Element not found (error -32603)",
		`{"code":-32602,"message":"no","data":{"field": "url"}}`: `!no (error -32602): {"field":"url"}`,
		`{"code":1}`: `!The node answered with an error: {"code":1}`,
		`"odd"`:      `!The node answered with an error: "odd"`,
	} {
		got := read(&toolv1.Answer{Outcome: &toolv1.Answer_ErrorJson{ErrorJson: []byte(raw)}})
		if sketch(got) != want {
			t.Errorf("%s: %q", raw, sketch(got))
		}
	}
}

func TestSpellingsOfBase64(t *testing.T) {
	t.Parallel()
	std := b64(png)
	for _, spelling := range []string{
		std, strings.TrimRight(std, "="), base64.URLEncoding.EncodeToString(png), base64.RawURLEncoding.EncodeToString(png),
		std[:8] + "\r\n" + std[8:], "data:image/png;base64," + std, "data:;base64," + std,
	} {
		if _, data, ok := decode(spelling, ""); !ok || !bytes.Equal(data, png) {
			t.Errorf("%q: %q, %t", spelling, data, ok)
		}
	}
}

func TestArtifactsAreBounded(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf(`{"type":"image","data":%q}`, b64(append(png, byte(i)))))
	}
	r := resultOf(`{"content":[` + strings.Join(items, ",") + `]}`)
	if len(r.Artifacts) != maxArtifacts || !strings.Contains(r.Text, "[24 more images or files were left out]") {
		t.Errorf("%d artifacts, %s", len(r.Artifacts), r.Text)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"image","data":"` + b64(png) + `"},{"type":"text","text":"x"}],"isError":true}`))
	f.Add([]byte(`{"success":true,"message":"m","content":{"type":"json","data":[]},"_screenshot":"/9j/"}`))
	f.Add([]byte(`{"code":-1,"message":"m","data":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 0 && !json.Valid(raw) {
			return // a gateway passes nothing on that is not JSON
		}
		for _, answer := range []*toolv1.Answer{
			{Outcome: &toolv1.Answer_ResultJson{ResultJson: raw}}, {Outcome: &toolv1.Answer_ErrorJson{ErrorJson: raw}},
		} {
			r := read(answer)
			if strings.TrimSpace(r.Text) == "" {
				t.Errorf("%q: the model is told nothing", raw)
			}
			if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "\x00") || len(r.Artifacts) > maxArtifacts {
				t.Errorf("%q: %q", raw, r.Text)
			}
		}
	})
}
