package apidoc

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"fmt"
	"net/http"
)

// The page and what it runs are one document: it loads nothing but /openapi.json.
var (
	//go:embed page.html
	page []byte
	//go:embed page.css
	style []byte
	//go:embed page.js
	script []byte
)

// Pages serves the description.
type Pages struct {
	// Static after construction.
	openAPI []byte
	docs    []byte
	policy  string
}

// New returns the pages.
func New() (*Pages, error) {
	openAPI, err := OpenAPI()
	if err != nil {
		return nil, err
	}
	docs := bytes.Replace(page, []byte("/* style */"), style, 1)
	return &Pages{
		openAPI: openAPI,
		docs:    bytes.Replace(docs, []byte("/* script */"), script, 1),
		policy: fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			source(style), source(script)),
	}, nil
}

// source names an inline element in a content security policy by its hash.
func source(element []byte) string {
	sum := sha256.Sum256(element)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Routes adds the endpoints.
func (p *Pages) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(p.openAPI) // the client may be gone
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", p.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		_, _ = w.Write(p.docs) // the client may be gone
	})
}
