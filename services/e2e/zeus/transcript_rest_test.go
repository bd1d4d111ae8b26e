package zeus_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// request plays the verbs of REST.
func (s *stage) request(a *actor, pod, verb, text string) {
	s.Helper()
	first, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "asks":
		path, body, _ := strings.Cut(rest, " ")
		g, user := s.pod(pod), s.vars["user"]
		a.answer = make(chan cluster.Response, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			a.answer <- g.Do(s, first, path, user, body, nil)
		}()
		s.Cleanup(func() { <-done })
	case "hears", "fails":
		r := <-a.answer
		want := s.object(rest)
		if verb == "fails" {
			if r.Body["success"] != false || r.Type != "application/problem+json" {
				s.Errorf("no problem: %s %s", r.Type, r.Raw)
			}
			for name := range r.Body {
				if _, named := want[name]; !named {
					delete(r.Body, name)
				}
			}
		}
		if strconv.Itoa(r.Status) != first || !reflect.DeepEqual(r.Body, want) {
			s.Fatalf("\ngot  %d %s\nwant %s", r.Status, r.Raw, text)
		}
	case "sees":
		var r cluster.Response
		want := s.object(rest)
		testkit.Eventually(s, 10*time.Second, func() bool {
			r = s.pod(pod).Do(s, http.MethodGet, first, s.vars["user"], "", nil)
			return r.Status == http.StatusOK && reflect.DeepEqual(r.Body, want)
		}, "%s answers\n%s", first, rest)
	}
}

func (s *stage) object(text string) (m map[string]any) {
	s.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		s.Fatalf("%v in %s", err, text)
	}
	return m
}
