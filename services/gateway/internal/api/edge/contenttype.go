package edge

import (
	"mime"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// JSONOnly refuses requests that change something and bring anything but application/json: what a form, or a script
// without permission, can make a browser send has another type, or none. It is the second line behind [Pages], for browsers
// that hold the Origin back. Below files, PUT takes bytes of any type: which no page may send without asking first.
func JSONOnly(files string) Layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := checkContentType(r, files); err != nil {
				NewProblem(err, nil).Write(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func checkContentType(r *http.Request, files string) error {
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
		if kind, _, err := mime.ParseMediaType(values[0]); err == nil && kind == "application/json" {
			return nil
		}
	}
	return errs.New(errs.ContentTypeRefused, "the body's type must be said to be JSON, by one header Content-Type: application/json")
}
