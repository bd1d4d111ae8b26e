package pictures

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// answering is an answer with padding: shorter ones are not looked at.
func answering(result string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":"c","pad":"` + strings.Repeat("x", least) + `","result":` + result + `}`)
}

func TestThePictureOfAnAnswer(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{"content":[],"_screenshot":"iVBORw"}`:                                   "iVBORw image/png",
		`{"_screenshot":"\/9j\/4"}`:                                               `\/9j\/4 image/jpeg`,
		`{"_screenshot":"data:image/webp;base64,UklG"}`:                           "UklG image/webp",
		`{"_screenshot":"iVBORw","content":[{"type":"image","data":"b3RoZXI="}]}`: "iVBORw image/png",
		`{"content":[{"type":"image","data":"Zmlyc3Q="},{"type":"text","text":"x"},{"type":"image","data":"bGFzdA=="}]}`: "bGFzdA== image/png",
		`{"content":[{"type":"text","text":"an \"image\" of _screenshot"}]}`:                                             " image/png",
		`{"content":"image","_screenshot":7}`:                                                                            " image/png",
		`"_screenshot"`:                                                                                                  " ",
		`{"_screenshot":"data:image/x\u0000;base64,UklG"}`:                                                               `data:image/x\u0000;base64,UklG image/png`,
		`{"content":[{"type":"image","data":{"type":"image"}},{"type":"image"},7,null,[{"type":"image","data":"bmVzdGVk"}]]}`: " image/png",
	} {
		picture, kind := find(answering(result))
		if got := string(picture) + " " + kind; got != want {
			t.Errorf("%s: %q, want %q", result, got, want)
		}
	}
	if picture, _ := find([]byte(`{"result":{"_screenshot":"iVBORw"}}`)); picture != nil {
		t.Error("a short answer is looked at")
	}
}

func TestOnlyBase64IsShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"iVBORw": true, `\/9j\/4==`: true, "": false, `a\u0041`: false, "a b": false, `a\`: false, `"`: false, "data:x": false} {
		if got := isBase64([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// What is found is a part of a JSON string, whatever a node sends.
func FuzzFind(f *testing.F) {
	f.Add(`{"content":[{"type":"image","data":"bGFzdA=="}],"_screenshot":"iVBORw"}`)
	f.Add(`{"_screenshot":"data:image/png;base64,\"\\"}`)
	f.Fuzz(func(t *testing.T, result string) {
		raw := answering(result)
		if !json.Valid(raw) {
			return
		}
		picture, kind := find(raw)
		if isBase64(picture) && !json.Valid([]byte(`{"blob":"`+string(picture)+`"}`)) {
			t.Errorf("%q ends a string", picture)
		}
		if strings.ContainsAny(kind, `"\`) {
			t.Errorf("type %q", kind)
		}
	})
}

func BenchmarkAnAnswerWithoutAPicture(b *testing.B) {
	text := strings.Repeat(`a line of text, as a page has it, with \"quotes\" in it.\n`, 3600)
	raw := answering(`{"content":[{"type":"text","text":"` + text + `"}]}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		find(raw)
	}
}

func BenchmarkAnAnswerWithAPicture(b *testing.B) {
	raw := answering(`{"content":[{"type":"text","text":"done"}],"_screenshot":"` + strings.Repeat("iVBORw0KGgo+", 17_000) + `"}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		find(raw)
	}
}
