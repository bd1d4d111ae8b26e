package edge

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// JSONOnly refuses requests that change something and bring anything but application/json: what a form, or a script
// without permission, can make a browser send has another type, or none. It is the second line behind [Pages], for browsers
// that hold the Origin back. Below files, PUT takes bytes of any type: which no page may send without asking first. POST takes
// multipart/form-data at paths that match one of uploads, as [path.Match] does; there [Pages] is the only line.
func JSONOnly(files string, uploads ...string) Layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := checkContentType(r, files, uploads); err != nil {
				NewProblem(err, nil).Write(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func checkContentType(r *http.Request, files string, uploads []string) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	case http.MethodPut:
		if strings.HasPrefix(r.URL.Path, files) {
			return nil
		}
	}
	values := r.Header["Content-Type"]
	if len(values) == 0 && r.ContentLength == 0 {
		return nil
	}
	if len(values) == 1 {
		if values[0] == "application/json" { // as most say it, and nothing has to be parsed
			return nil
		}
		switch kind, _, err := mime.ParseMediaType(values[0]); {
		case err != nil:
		case kind == "application/json", kind == "multipart/form-data" && takesForm(r, uploads):
			return nil
		}
	}
	return errs.New(errs.ContentTypeRefused, "the body's type must be said to be JSON, by one header Content-Type: application/json")
}

// takesForm reports whether a request may bring a form.
func takesForm(r *http.Request, uploads []string) bool {
	return r.Method == http.MethodPost && slices.ContainsFunc(uploads, func(pattern string) bool {
		matched, err := path.Match(pattern, r.URL.Path)
		return err == nil && matched
	})
}
