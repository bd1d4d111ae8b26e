package obs_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

const adminToken = "a token of the operators"

// knock asks an admin port with a route that changes something.
func knock(t *testing.T, door obs.AdminDoor, method, host, from string, headers ...string) int {
	t.Helper()
	admin := newAdmin(t, obs.AdminOptions{Addr: "admin.box.local:9180", Door: door, Metrics: prometheus.NewRegistry(), Ready: &lifecycle.Ready{}})
	admin.Handle("/thing", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	r := httptest.NewRequestWithContext(t.Context(), method, "/thing", nil)
	r.Host, r.RemoteAddr = host, from
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	admin.Handler().ServeHTTP(w, r)
	return w.Code
}

func TestWhoMayUseTheAdminPort(t *testing.T) {
	t.Parallel()
	const here, there, probe, get, post = "127.0.0.1:5000", "10.0.0.9:5000", "10.0.0.2:9180", http.MethodGet, http.MethodPost
	bearer := []string{"Authorization", "Bearer " + adminToken}
	open, closed := obs.AdminDoor{Hosts: []string{"gateway.monitoring.svc"}}, obs.AdminDoor{Token: adminToken}
	for what, tt := range map[string]struct {
		door               obs.AdminDoor
		method, host, from string
		headers            []string
		want               int
	}{
		"a probe, by the pod's address":           {open, get, probe, there, nil, 202},
		"a scrape, by a name that is given":       {open, get, "gateway.monitoring.svc:9180", there, nil, 202},
		"a scrape, by the name it listens on":     {open, get, "admin.box.local:9180", there, nil, 202},
		"a scrape, by a name that nobody gave":    {open, get, "gateway:9180", there, nil, 403},
		"a rebound page reads":                    {open, get, "evil.example:9180", here, nil, 403},
		"a rebound page drains":                   {open, post, "evil.local:9180", here, []string{"Origin", "http://evil.local:9180"}, 403},
		"a page of another local port":            {open, post, "localhost:9180", here, []string{"Origin", "http://localhost:3000"}, 403},
		"its picture":                             {open, get, "localhost:9180", here, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		"an extension":                            {open, get, "localhost:9180", here, []string{"Origin", "chrome-extension://bbiffkagaphghlaehicdognlolaghaom"}, 403},
		"an operator's own browser":               {open, get, "localhost:9180", here, []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 202},
		"a drain from here":                       {open, post, "localhost:9180", here, nil, 202},
		"a drain from here, by IPv6":              {open, post, "[::1]:9180", "[::1]:5000", nil, 202},
		"a drain from here, with a token set":     {closed, post, "localhost:9180", here, nil, 202},
		"a drain from there, where no token is":   {open, post, probe, there, nil, 401},
		"a drain from there, with no token's own": {open, post, probe, there, []string{"Authorization", "Bearer "}, 401},
		"a drain from there, without its token":   {closed, post, probe, there, nil, 401},
		"a drain from there, with a wrong one":    {closed, post, probe, there, []string{"Authorization", "Bearer " + adminToken + "s"}, 401},
		"a drain from there, with two":            {closed, post, probe, there, append(bearer, bearer...), 401},
		"a drain from there":                      {closed, post, probe, there, bearer, 202},
		"a drain from there, by a name":           {closed, post, "gateway-1:9180", there, bearer, 202},
		"a drain through a proxy beside the pod":  {closed, post, "localhost:9180", here, []string{"X-Forwarded-For", "10.0.0.9"}, 401},
		"a drain through another":                 {closed, post, "localhost:9180", here, []string{"Forwarded", "for=10.0.0.9"}, 401},
		"a change by DELETE":                      {closed, http.MethodDelete, probe, there, nil, 401},
	} {
		if got := knock(t, tt.door, tt.method, tt.host, tt.from, tt.headers...); got != tt.want {
			t.Errorf("%s: %d, want %d", what, got, tt.want)
		}
	}
}

func TestAdminDoorIsChecked(t *testing.T) {
	t.Parallel()
	for says, door := range map[string]obs.AdminDoor{
		"ADMIN_HOSTS": {Hosts: []string{"gateway:9180"}}, "ADMIN_TOKEN is shorter": {Token: "short"},
	} {
		if _, err := obs.NewAdmin(obs.AdminOptions{Door: door}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
