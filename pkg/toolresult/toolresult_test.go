package toolresult_test

import (
	"encoding/json"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/toolresult"
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
