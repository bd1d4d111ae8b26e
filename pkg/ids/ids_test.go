package ids

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckAcceptsOpaqueIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"abc", "a.b.*.>", " spaced ", "ü-ñ-漢字", "../../etc", strings.Repeat("x", MaxBytes), "İ", "%2e"} {
		if err := Check("user_id", id); err != nil {
			t.Errorf("%q refused: %v", id, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{
		"empty":    "",
		"too long": strings.Repeat("x", MaxBytes+1),
		"newline":  "a\nb",
		"nul":      "a\x00",
		"C1":       "a\u0085",
		"bad utf8": "a\xff",
	} {
		var invalid *InvalidError
		if err := Check("user_id", id); !errors.As(err, &invalid) || invalid.Field != "user_id" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
