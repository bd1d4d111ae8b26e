package http1

import "net/http"

// ReadHead reads the head at the beginning of b as a connection does, and returns its length; ordinary is false for what net/http gets.
func ReadHead(b []byte) (r *http.Request, n int, ordinary bool) {
	n, found := endOf(b)
	r = new(http.Request)
	return r, n, found == whole && parse(string(b[:n]), r)
}
