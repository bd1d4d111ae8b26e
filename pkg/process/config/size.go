package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as "512", "64KiB", "10MiB", "1.5GiB", or with the decimal units kB, MB, GB.
type Size int64

// The units of a [Size] that are powers of two.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
)

var units = []struct {
	name  string
	bytes Size
}{
	{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// UnmarshalText reads a size. Units are matched without regard to case; "K", "M" and "G" alone are refused, since people
// disagree on what they mean.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := strings.TrimSpace(string(text)), Size(1)
	for _, u := range units {
		if head, ok := cutSuffixFold(number, u.name); ok {
			number, unit = strings.TrimSpace(head), u.bytes
			break
		}
	}
	if whole, err := strconv.ParseInt(number, 10, 64); err == nil {
		if whole < 0 || whole > math.MaxInt64/int64(unit) {
			return fmt.Errorf("%q is out of range", text)
		}
		*s = Size(whole) * unit
		return nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q is not a size, such as 512, 64KiB or 10MiB", text)
	}
	if !(f >= 0 && f*float64(unit) < math.MaxInt64) { // also false for NaN
		return fmt.Errorf("%q is out of range", text)
	}
	*s = Size(f * float64(unit))
	return nil
}

// String returns the size in the largest binary unit that divides it.
func (s Size) String() string {
	for _, u := range units[:3] {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalText is the inverse of UnmarshalText.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func cutSuffixFold(s, suffix string) (string, bool) {
	cut := len(s) - len(suffix)
	if cut < 0 || !strings.EqualFold(s[cut:], suffix) {
		return s, false
	}
	return s[:cut], true
}
