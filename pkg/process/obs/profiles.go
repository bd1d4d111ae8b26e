package obs

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	runtime "runtime/pprof"
)

// profiles serves what "go tool pprof" asks for. The program's command line, which that could show too, is left out: it
// may hold keys.
func profiles(mux *http.ServeMux) {
	const path = "/debug/pprof/"
	mux.HandleFunc("GET "+path+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for _, p := range runtime.Profiles() {
			fmt.Fprintln(w, p.Name()) // who asked may be gone
		}
		fmt.Fprint(w, "profile\ntrace\n")
	})
	mux.HandleFunc("GET "+path+"{name}", func(w http.ResponseWriter, r *http.Request) {
		if runtime.Lookup(r.PathValue("name")) == nil {
			http.NotFound(w, r)
			return
		}
		pprof.Handler(r.PathValue("name")).ServeHTTP(w, r)
	})
	mux.HandleFunc("GET "+path+"profile", pprof.Profile)
	mux.HandleFunc("GET "+path+"symbol", pprof.Symbol)
	mux.HandleFunc("GET "+path+"trace", pprof.Trace)
}
