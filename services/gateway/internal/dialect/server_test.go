package dialect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/metrics"
)

func anybody(*http.Request) (dialect.Identity, *dialect.Refusal) { return dialect.Identity{}, nil }

func TestDeclarationsAreChecked(t *testing.T) {
	t.Parallel()
	one := &dialect.Kind{Name: "one", Path: "/one", Identify: anybody}
	for problem, kinds := range map[string][]*dialect.Kind{
		"":                          {one, {Name: "two", Path: "/two", Identify: anybody}},
		`has the name "one"`:        {one, {Name: "one", Path: "/two", Identify: anybody}},
		`the path "/one"`:           {one, {Name: "two", Path: "/one", Identify: anybody}},
		"nothing says who a client": {{Name: "one", Path: "/one"}},
	} {
		d := dialect.Dialect{Name: "test", Kinds: kinds, New: func(dialect.Env) dialect.Protocol { return nil }}
		s, err := dialect.New(dialect.Config{Metrics: metrics.New(prometheus.NewRegistry(), nil)}, d)
		switch {
		case problem == "" && (err != nil || !s.Serves("/one") || !s.Serves("/two") || s.Serves("/three")):
			t.Errorf("good declarations: %v", err)
		case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s: %v", problem, err)
		}
	}
}
