package agent_test

import (
	"io"
	"net/http"
	"testing"
)

// fetch sends a request and reads its answer whole.
func fetch(t *testing.T, req *http.Request) (status int, body string, header http.Header) {
	t.Helper()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw), resp.Header
}
