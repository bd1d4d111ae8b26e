package embed

import (
	"context"
	"math"
	"time"
)

// Embedder makes vectors of length 1, one for each text, in order. It is safe for concurrent use. Errors are *[Error], or the context's.
type Embedder interface {
	// Model names what makes the vectors: those of two models are not to be compared.
	Model() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Error says why there are no vectors.
type Error struct {
	Message string
	// Final: trying again changes nothing.
	Final bool
	// After is how long the server wants to be left alone; 0 where it does not say.
	After time.Duration
	Err   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns what is behind it.
func (e *Error) Unwrap() error { return e.Err }

// normal gives a vector the length 1; false where it has none.
func normal(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	by := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= by
	}
	return true
}
