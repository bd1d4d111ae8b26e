package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

func TestCode(t *testing.T) {
	t.Parallel()
	for _, reason := range errs.CallReasons() {
		want := map[errs.Class]Code{errs.NotDelivered: NotDelivered, errs.Unknown: Unknown}[reason.Class()]
		if got := code(fmt.Errorf("call: %w", errs.New(reason, "x"))); got != want {
			t.Errorf("%s: %d, want %d", reason, got, want)
		}
	}
	for name, tt := range map[string]struct {
		err  error
		want Code
	}{
		"none": {nil, OK}, "help": {config.ErrHelp, OK}, "any": {errors.New("x"), Failed}, "usage": {usage("x"), Usage},
		"not delivered": {&outcomeError{errs.NotDelivered, errors.New("x")}, NotDelivered}, "unknown": {&outcomeError{errs.Unknown, errors.New("x")}, Unknown},
	} {
		if got := code(tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"desk": "desk", "Büro 東京": "Büro 東京", "": "-", "a\x1b[2J": `"a\x1b[2J"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "\u202eabc": `"\u202eabc"`,
	} {
		if got := printable(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"a":1} `, "a=1", "a=x b=[1,2]", "a={", "=", "a", "{", `a="x"`, "a=1 a=2", "a=\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		raw, err := parseArguments(words)
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil || object == nil {
			t.Fatalf("%q gives %s: %v", line, raw, err)
		}
		if len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{") {
			return
		}
		if len(object) != len(words) {
			t.Errorf("%q has %d arguments, gives %s", line, len(words), raw)
		}
	})
}

func TestServerNamesNoSecret(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"nats://user:secret@a:4222":                    "a:4222",
		"nats://secret@a:4222,nats://secret@b:4222":    "a:4222, b:4222",
		"user:secret@a:4222":                           "a:4222",
		"secret@a:4222":                                "a:4222",
		"redis://:secret@127.0.0.1:6379/0?addr=x:6379": "127.0.0.1:6379",
		"rediss://secret":                              "secret",
		"nonsense":                                     "",
	} {
		if got := server(config.Secret(address), false); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
