package browser

import (
	"embed"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

//go:embed testdata/site
var pages embed.FS

// Site is a web site to act on. It remembers what reaches it, so that a test sees the far end of a click.
type Site struct {
	server *httptest.Server

	mu    sync.Mutex
	forms []string        // what was posted to /submit, oldest first
	hung  map[string]bool // requests that /hang keeps waiting, by their query
}

// ServeSite serves the site until the test ends.
func ServeSite(t testing.TB) *Site {
	t.Helper()
	files, err := fs.Sub(pages, "testdata/site")
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{hung: make(map[string]bool)}
	routes := http.NewServeMux()
	routes.Handle("GET /", http.FileServerFS(files))
	routes.HandleFunc("POST /submit", s.submit)
	routes.HandleFunc("GET /hang", s.hang)
	routes.HandleFunc("GET /nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	routes.Handle("GET /moved", http.RedirectHandler("/next.html", http.StatusFound))
	s.server = httptest.NewServer(routes)
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// URL returns the address of a page of the site: "/form.html", say.
func (s *Site) URL(path string) string { return s.server.URL + path }

// Forms returns what was typed into the forms that were sent, oldest first.
func (s *Site) Forms() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.forms...)
}

// Hangs says whether a browser is waiting for /hang?<query>.
func (s *Site) Hangs(query string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hung[query]
}

func (s *Site) submit(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("text")
	s.mu.Lock()
	s.forms = append(s.forms, text)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!doctype html><title>Thanks</title><p id=thanks>Thanks</p>"))
}

// hang never answers; it returns when the browser gives up.
func (s *Site) hang(_ http.ResponseWriter, r *http.Request) {
	s.setHung(r.URL.RawQuery, true)
	<-r.Context().Done()
	s.setHung(r.URL.RawQuery, false)
}

func (s *Site) setHung(query string, hung bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hung {
		s.hung[query] = true
	} else {
		delete(s.hung, query)
	}
}
