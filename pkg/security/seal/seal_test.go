package seal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
)

func box(t *testing.T, keys ...config.Secret) *seal.Box {
	t.Helper()
	b, err := seal.New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	b := box(t, seal.NewKey())
	for _, plain := range []string{"", "x", strings.Repeat("secret", 10_000)} {
		one, err := b.Seal(seal.RunSettings, "ana", []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		two, err := b.Seal(seal.RunSettings, "ana", []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(one, two) || plain == strings.Repeat("secret", 10_000) && bytes.Contains(one, []byte("secret")) {
			t.Error("a sealed value tells something of what is in it")
		}
		if got, err := b.Open(seal.RunSettings, "ana", one); err != nil || string(got) != plain {
			t.Errorf("%d bytes came back as %d, %v", len(plain), len(got), err)
		}
	}
}

// A value opens nowhere but where it was sealed for.
func TestBinding(t *testing.T) {
	t.Parallel()
	b := box(t, seal.NewKey())
	sealed, err := b.Seal("ab", "c", []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range [][2]string{{"ab", "d"}, {"a", "bc"}, {"abc", ""}, {"", "abc"}, {"x", "c"}} {
		if _, err := b.Open(seal.Purpose(where[0]), ids.UserID(where[1]), sealed); !errors.Is(err, seal.ErrTampered) {
			t.Errorf("%q: %v", where, err)
		}
	}
}

// No byte can be changed, and none left out.
func TestTampering(t *testing.T) {
	t.Parallel()
	b := box(t, seal.NewKey())
	sealed, err := b.Seal(seal.ToolSecrets, "ana", []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := b.Open(seal.ToolSecrets, "ana", changed); !errors.Is(err, seal.ErrTampered) && !errors.Is(err, seal.ErrUnknownKey) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := b.Open(seal.ToolSecrets, "ana", sealed[:i]); !errors.Is(err, seal.ErrTampered) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	old, fresh := seal.NewKey(), seal.NewKey()
	sealed, err := box(t, old).Seal(seal.RunSettings, "ana", []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	both := box(t, fresh, old)
	if got, err := both.Open(seal.RunSettings, "ana", sealed); err != nil || string(got) != "plain" {
		t.Errorf("the old key no longer opens: %q, %v", got, err)
	}
	again, err := both.Seal(seal.RunSettings, "ana", []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box(t, fresh).Open(seal.RunSettings, "ana", again); err != nil {
		t.Errorf("the first key does not seal: %v", err)
	}
	if _, err := box(t, fresh).Open(seal.RunSettings, "ana", sealed); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("a key that was taken away: %v", err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	good := seal.NewKey()
	for name, keys := range map[string][]config.Secret{
		"none":       nil,
		"empty":      {""},
		"not base64": {"a secret that nobody may read!"},
		"short":      {"c2hvcnQ="},
		"second bad": {good, "c2hvcnQ="},
		"twice":      {good, good},
	} {
		_, err := seal.New(keys...)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, k := range keys {
			if k != "" && strings.Contains(err.Error(), k.Reveal()) {
				t.Errorf("%s: the error shows the key", name)
			}
		}
	}
	var zero seal.Box
	if _, err := zero.Seal(seal.RunSettings, "ana", nil); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("a box without a key seals: %v", err)
	}
	if _, err := zero.Open(seal.RunSettings, "ana", nil); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("a box without a key opens: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	b, err := seal.New(seal.NewKey())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add([]byte("\x01abcdefgh"))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if plain, err := b.Open(seal.RunSettings, "ana", sealed); err == nil {
			t.Errorf("%x opened to %x", sealed, plain)
		}
	})
}
