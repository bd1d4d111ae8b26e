package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// MaxSize bounds a payload or answer: with the frame around it, it stays below the 10 MiB that a frame may have.
const MaxSize = 9 << 20

// Sizes is a mix of sizes in bytes, written as "200,64KiB:0.05": 64 KiB in one case of twenty, else 200. Sizes without a
// share divide what the others leave.
type Sizes struct {
	sizes  []int
	shares []float64 // cumulative; the last one is 1
	text   string
}

// UnmarshalText reads a mix.
func (s *Sizes) UnmarshalText(text []byte) error {
	out := Sizes{text: string(text)}
	var shares []float64
	rest, open := 1.0, 0
	for part := range strings.SplitSeq(out.text, ",") {
		size, share, given := strings.Cut(strings.TrimSpace(part), ":")
		var bytes config.Size
		if err := bytes.UnmarshalText([]byte(size)); err != nil {
			return err
		}
		if bytes > MaxSize {
			return fmt.Errorf("%q is more than the %d bytes that fit into a frame", size, MaxSize)
		}
		f := math.NaN()
		if given {
			var err error
			if f, err = strconv.ParseFloat(share, 64); err != nil || !(f >= 0 && f <= 1) {
				return fmt.Errorf("%q is not a share from 0 to 1, as in 64KiB:0.05", share)
			}
			rest -= f
		} else {
			open++
		}
		out.sizes, shares = append(out.sizes, int(bytes)), append(shares, f)
	}
	const slack = 1e-9 // of sums of decimal fractions
	if rest < -slack || open == 0 && rest > slack {
		return fmt.Errorf("the shares of %q make %g, not 1", out.text, 1-rest)
	}
	sum := 0.0
	for _, f := range shares {
		if math.IsNaN(f) {
			f = max(rest, 0) / float64(open)
		}
		sum += f
		out.shares = append(out.shares, sum)
	}
	out.shares[len(out.shares)-1] = 1
	*s = out
	return nil
}

// String returns the mix as it was written.
func (s Sizes) String() string { return s.text }

// MarshalText is the inverse of UnmarshalText.
func (s Sizes) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// draw chooses one; 0 where the mix is empty.
func (s Sizes) draw(rng *rand.Rand) int {
	f := rng.Float64()
	for i, share := range s.shares {
		if f < share {
			return s.sizes[i]
		}
	}
	return 0
}
