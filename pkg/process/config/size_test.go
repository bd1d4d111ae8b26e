package config_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Size{
		"0": 0, "512": 512, "512B": 512, "64KiB": 65536, "64 kib": 65536, "10MiB": 10 << 20, "1.5GiB": 3 << 29,
		"2kB": 2000, "3MB": 3e6, "1GB": 1e9, " 1 KiB ": 1024,
	} {
		var got config.Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %d, error %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "-1KiB", "10M", "1e400", "NaN", "Inf", "9223372036854775807KiB", "9e18KiB", "x", "1KiBKiB"} {
		var got config.Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	for size, want := range map[config.Size]string{0: "0", 1: "1", 1500: "1500", 1024: "1KiB", 10 << 20: "10MiB", 3 << 30: "3GiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d: got %q, want %q", int64(size), got, want)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"1", "1KiB", "1.5GiB", "-1", "1e9", "NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size, again config.Size
		if size.UnmarshalText([]byte(text)) != nil {
			return
		}
		if size < 0 {
			t.Fatalf("%q became %d", text, int64(size))
		}
		if err := again.UnmarshalText([]byte(size.String())); err != nil || again != size {
			t.Fatalf("%q became %d, whose text %q reads as %d, %v", text, int64(size), size, int64(again), err)
		}
	})
}
