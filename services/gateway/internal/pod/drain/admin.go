package drain

import (
	"encoding/json"
	"net/http"
	"time"
)

// Path is where the admin port serves the drain.
const Path = "/drain"

// Handler answers GET with the [Status], and POST by starting the drain or joining one that runs. ?spread=30s
// asks for another pace than the configured one.
func (j *Job) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, _ *http.Request) { j.answer(w, http.StatusOK) })
	mux.HandleFunc("POST "+Path, func(w http.ResponseWriter, r *http.Request) {
		pace := j.Pace
		if text := r.URL.Query().Get("spread"); text != "" {
			spread, err := time.ParseDuration(text)
			if err != nil || spread < 0 {
				http.Error(w, "spread must be a duration such as 30s", http.StatusBadRequest)
				return
			}
			pace.Spread, pace.Exact = spread, true
		}
		if !j.Start(pace) {
			http.Error(w, "the pod does not serve yet", http.StatusConflict)
			return
		}
		j.answer(w, http.StatusAccepted)
	})
	return mux
}

func (j *Job) answer(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(j.Status()) // the client may be gone
}
