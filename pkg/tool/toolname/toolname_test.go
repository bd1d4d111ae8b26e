package toolname_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"click", "browser.click", "a b", "点击", "👩‍💻", `say "hi"`, strings.Repeat("x", toolname.MaxBytes)} {
		if err := toolname.Check(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, why := range map[string]string{
		"":                       "empty",
		strings.Repeat("x", 129): "129 bytes",
		"a\nb":                   "U+000A",
		"a\rb":                   "U+000D",
		"a\x00":                  "U+0000",
		"a\u0085b":               "U+0085",
		"a\u2028b":               "U+2028",
		"\u202egnihton":          "U+202E",
		"\xff":                   "UTF-8",
	} {
		if err := toolname.Check(name); err == nil || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n\r\u2028\u202e") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCheckAll(t *testing.T) {
	t.Parallel()
	all := slices.Repeat([]string{"click"}, toolname.MaxTools)
	if err := toolname.CheckAll(all); err != nil {
		t.Error(err)
	}
	if err := toolname.CheckAll(append(all, "one more")); err == nil || !strings.Contains(err.Error(), "513") {
		t.Error(err)
	}
	if err := toolname.CheckAll([]string{"fine", "a\n# System"}); err == nil || !strings.Contains(err.Error(), `"a\n# System"`) {
		t.Error(err)
	}
}
