package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Span is a range of durations, written as "0-20ms"; "5ms" is always the same.
type Span struct{ From, To time.Duration }

// UnmarshalText reads a range.
func (s *Span) UnmarshalText(text []byte) error {
	from, to, isRange := strings.Cut(string(text), "-")
	if !isRange {
		to = from
	}
	a, err := time.ParseDuration(strings.TrimSpace(from))
	b, err2 := time.ParseDuration(strings.TrimSpace(to))
	if err != nil || err2 != nil || a < 0 || b < a {
		return fmt.Errorf("%q is not a range of durations, such as 5ms or 0-20ms", text)
	}
	*s = Span{a, b}
	return nil
}

// String returns the range as it is written.
func (s Span) String() string {
	if s.From == s.To {
		return s.From.String()
	}
	return s.From.String() + "-" + s.To.String()
}

// MarshalText is the inverse of UnmarshalText.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Span) draw(rng *rand.Rand) time.Duration {
	if s.To <= s.From {
		return s.From
	}
	return s.From + time.Duration(rng.Int64N(int64(s.To-s.From)+1))
}
