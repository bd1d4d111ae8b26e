package load

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var quantiles = []float64{0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1}

func TestQuantilesAreNearTheExactOnes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() time.Duration{
		"uniform":     func() time.Duration { return time.Duration(rng.Int64N(int64(time.Second))) },
		"exponential": func() time.Duration { return time.Duration(rng.ExpFloat64() * float64(3*time.Millisecond)) },
		"log-uniform": func() time.Duration { return time.Duration(1) << rng.Int64N(45) },
		"two modes": func() time.Duration {
			if rng.IntN(100) == 0 {
				return 6*time.Second + time.Duration(rng.Int64N(int64(time.Second)))
			}
			return time.Millisecond + time.Duration(rng.Int64N(int64(time.Millisecond)))
		},
		"constant": func() time.Duration { return 1234567 },
		"tiny":     func() time.Duration { return time.Duration(rng.Int64N(5000)) },
	} {
		for _, n := range []int{1, 2, 3, 10, 1000, 50000} {
			var h, a, b Histogram
			samples := make([]time.Duration, n)
			for i := range samples {
				samples[i] = draw()
				h.Add(samples[i])
				if i%3 == 0 {
					a.Add(samples[i])
				} else {
					b.Add(samples[i])
				}
			}
			a.Merge(&b)
			slices.Sort(samples)
			for _, q := range quantiles {
				want, got := Quantile(samples, q), h.Quantile(q)
				if got < want || got > want+want/linear+unit {
					t.Errorf("%s, %d samples: quantile %v is %v, exactly it is %v", name, n, q, got, want)
				}
				if merged := a.Quantile(q); merged != got {
					t.Errorf("%s, %d samples: quantile %v of two parts is %v, of the whole %v", name, n, q, merged, got)
				}
			}
			sum := time.Duration(0)
			for _, s := range samples {
				sum += s
			}
			if h.Count() != uint64(n) || h.Max() != samples[n-1] || h.Mean() != sum/time.Duration(n) || h.Quantile(1) != samples[n-1] {
				t.Errorf("%s: %d samples, longest %v, mean %v", name, h.Count(), h.Max(), h.Mean())
			}
		}
	}
}

func TestEveryValueIsInItsBucket(t *testing.T) {
	t.Parallel()
	last := -1
	for v := range uint64(1 << 20) {
		i := bucket(v)
		if i < last || i > last+1 || v > upper(i) || i > 0 && v <= upper(i-1) {
			t.Fatalf("%d is in bucket %d, whose largest is %d; the one before was in %d", v, i, upper(i), last)
		}
		last = i
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	var h Histogram
	h.Merge(&Histogram{})
	if h.Quantile(0.5) != 0 || h.Mean() != 0 || h.Max() != 0 || h.Count() != 0 {
		t.Error("there is something in it")
	}
	h.Add(-time.Second)
	if h.Quantile(1) != 0 || h.Count() != 1 {
		t.Error("a duration below zero is not zero")
	}
}
