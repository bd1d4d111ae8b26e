package edge

import (
	"net/http"
	"slices"
)

// Layer is what every request passes before its handler.
type Layer func(next http.Handler) http.Handler

// Layers returns one Layer of several, the first of which sees a request first.
func Layers(layers ...Layer) Layer {
	return func(handler http.Handler) http.Handler {
		for _, layer := range slices.Backward(layers) {
			handler = layer(handler)
		}
		return handler
	}
}
