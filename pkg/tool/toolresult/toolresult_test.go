package toolresult_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolresult"
)

func TestView(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct {
		json    string
		success bool
	}{
		`{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`: {`{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}],"text":"a\nb"}`, true},
		`{"content":[],"isError":true}`:           {`{"content":[],"isError":true,"text":""}`, false},
		`{"content":[],"_screenshot":"/9j/A"}`:    {`{"content":[],"screenshot_url":"data:image/jpeg;base64,/9j/A","text":""}`, true},
		`{"content":[],"_screenshot":"UklGRA"}`:   {`{"content":[],"screenshot_url":"data:image/webp;base64,UklGRA","text":""}`, true},
		`{"content":[],"_screenshot":"iVBOR"}`:    {`{"content":[],"screenshot_url":"data:image/png;base64,iVBOR","text":""}`, true},
		`{"content":[],"_screenshot":"data:x,y"}`: {`{"content":[],"screenshot_url":"data:x,y","text":""}`, true},
		`{"content":"one","isError":false}`:       {`{"content":"one","isError":false}`, true},
		`{"pid":1}`:                               {`{"pid":1}`, true},
		`[1]`:                                     {`[1]`, true},
		`"done"`:                                  {`"done"`, true},
	} {
		result, success := toolresult.View(json.RawMessage(raw))
		got, err := json.Marshal(result)
		if err != nil || string(got) != want.json || success != want.success {
			t.Errorf("%s: %s, %t, %v", raw, got, success, err)
		}
	}
}

// FuzzViewCostsItsBytes: no result costs more than four times its bytes, and what is shown of it is JSON.
func FuzzViewCostsItsBytes(f *testing.F) {
	const n, constant = 20_000, 256 << 10
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a\u00e9\n"}],"_screenshot":"iVBOR","text":"x","screenshot_url":1}`, `{"content":null,"a":1,"a":2}`, `{"content":[1]}`, `[]`,
		`{"content":[` + strings.Repeat(`{},`, n) + `{}]}`, `{"content":[` + strings.Repeat(`{"type":"text","text":""},`, n) + `{}]}`,
		`{"content":[],` + strings.Repeat(`"é":1,`, n) + `"":1}`, `{"content":[],` + strings.Repeat(`"\n":1,`, n) + `"":1}`,
		`{"content":[{"type":"text","text":"` + strings.Repeat("x", n) + `"}],"_screenshot":"` + strings.Repeat("x", n) + `"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := json.RawMessage(s)
		var result json.RawMessage
		cost := testkit.Allocated(func() { result, _ = toolresult.View(raw) })
		if cost > testkit.MemoryLimit(4*len(raw)+constant) {
			t.Errorf("%d bytes for %d: %.80q", cost, len(raw), s)
		}
		if json.Valid(raw) && !json.Valid(result) {
			t.Errorf("%.80q is shown as %.80q", s, result)
		}
	})
}
