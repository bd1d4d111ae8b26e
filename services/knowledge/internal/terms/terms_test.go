package terms_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/terms"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The Levers were switched, quickly!": "the lever were switch quick",
		"ＦＵＬＬ width № 7":                     "full width no 7",
		"x-ray v2.1 naïve":                   "x ray v2.1 naïve",
		"":                                   "",
		"don't":                              "don't",
	} {
		if got := strings.Join(terms.Of(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	got := terms.Of("我来到北京清华大学 today")
	for _, word := range []string{"北京", "清华大学", "大学", "today"} {
		if !slices.Contains(got, word) {
			t.Errorf("%v lacks %s", got, word)
		}
	}
	if long := terms.Of(strings.Repeat("a", 1000)); len(long) != 1 || len(long[0]) > 96 {
		t.Errorf("%v", long)
	}
}
