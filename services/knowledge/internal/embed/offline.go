package embed

import (
	"context"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/terms"
)

// Offline is the embedder of our own.
type Offline struct{}

// offlineDimensions of its vectors.
const offlineDimensions = 384

// Model implements [Embedder].
func (Offline) Model() string { return "hecaton-offline-1" }

// Embed implements [Embedder].
func (Offline) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = hashed(text)
	}
	return out, nil
}

// hashed adds up the words of a text and, with less weight, the three-letter parts of each. A word that comes often counts by the
// root of how often.
func hashed(text string) []float32 {
	times := map[string]float64{}
	for _, term := range terms.Of(text) {
		times["w"+term]++
		padded := []rune("^" + term + "$")
		for i := 0; i+3 <= len(padded); i++ {
			times["t"+string(padded[i:i+3])] += 0.15
		}
	}
	v := make([]float32, offlineDimensions)
	for _, feature := range slices.Sorted(maps.Keys(times)) { // in one order, so that sums are the same each time
		h := fnv.New64a()
		_, _ = h.Write([]byte(feature)) // never fails
		sum := h.Sum64()
		weight := float32(math.Sqrt(times[feature]))
		if sum&(1<<40) != 0 {
			weight = -weight
		}
		v[sum%offlineDimensions] += weight
	}
	if !normal(v) {
		v[0] = 1 // a text without words
	}
	return v
}
