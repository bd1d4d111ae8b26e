package agent_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

const tokenSecret = config.Secret("a secret for the tokens of these tests")

func bearer(t *testing.T, user string) http.Header {
	t.Helper()
	token, err := auth.Mint(tokenSecret, auth.Claims{User: ids.UserID(user), Audience: "hecaton", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

func startJWT(t *testing.T) *fixture {
	return newFixture(t, cluster.Options{
		Gateway: func(_ int, c *gateway.Config) {
			c.Auth = auth.Config{Mode: auth.JWT, Secret: tokenSecret, Audience: "hecaton"}
		},
		Orchestrator: func(_ int, c *orchestrator.Config) { c.Addresses.Private = false },
	})
}

func TestUserComesFromTheTokenNotTheBody(t *testing.T) {
	t.Parallel()
	w := startJWT(t)
	w.model.Otherwise(modeltest.Say("Hello."))
	g := w.Gateways[0]
	for i, claim := range []struct {
		body   object
		header http.Header
	}{
		{body: object{"user_id": "bob"}},
		{body: object{"user": "bob", "userId": "bob"}},
		{header: http.Header{"X-User-Id": {"ana"}}},
		{header: http.Header{"Hecaton-User-Bin": {"Ym9i"}, "Grpc-Metadata-Hecaton-User-Bin": {"Ym9i"}}},
	} {
		body := object{"message": "Hello.", "session_id": fmt.Sprint("of-ana-", i)}
		for k, v := range claim.body {
			body[k] = v
		}
		header := bearer(t, "ana")
		for k, v := range claim.header {
			header[k] = v
		}
		g.Stream(t, http.MethodPost, "/api/agent/invoke", body, header).Complete("stop")
	}
	if r := g.Do(t, http.MethodGet, sessionsPath, "", "", bearer(t, "ana")); strings.Count(r.Raw, `"of-ana-`) != 4 {
		t.Errorf("ana has %s", r.Raw)
	}
	if r := g.Do(t, http.MethodGet, sessionsPath, "", "", bearer(t, "bob")); len(r.Body["sessions"].([]any)) != 0 {
		t.Errorf("bob has %s", r.Raw)
	}
	for _, path := range []string{"/events?follow=false", "/messages", ""} {
		if r := g.Do(t, http.MethodGet, sessionsPath+"/of-ana-0"+path, "", "", bearer(t, "bob")); r.Status != 404 {
			t.Errorf("bob reads %s: %d", path, r.Status)
		}
	}
}

func TestEveryRequestNeedsAToken(t *testing.T) {
	t.Parallel()
	w := startJWT(t)
	expired, err := auth.Mint(tokenSecret, auth.Claims{User: "ana", Audience: "hecaton", Expires: time.Now().Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	forged, err := auth.Mint(config.Secret("another secret that nobody here believes"), auth.Claims{User: "ana", Audience: "hecaton", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]http.Header{
		"none":    {"X-User-Id": {"ana"}},
		"expired": {"Authorization": {"Bearer " + expired}},
		"forged":  {"Authorization": {"Bearer " + forged}},
	} {
		for _, request := range []string{
			"POST /api/agent/invoke", "POST /api/agent/resume", "GET /api/agent/sessions", "GET /api/agent/sessions/s/events",
			"GET /api/agent/approval-settings", "GET /api/tools", "POST /api/tools/call", "POST /api/tools/mcp/validate",
			"GET /api/workspace/files", "GET /api/workspace/files/a", "PUT /api/workspace/files/a", "DELETE /api/workspace/files/a",
		} {
			method, path, _ := strings.Cut(request, " ")
			if r := w.Gateways[1].Do(t, method, path, "", `{"message":"x"}`, header); r.Status != 401 {
				t.Errorf("%s, %s: %d %s", name, request, r.Status, r.Raw)
			}
		}
	}
	if n := len(w.model.Requests()); n != 0 {
		t.Errorf("%d models were asked", n)
	}
}

func TestUsersCannotNameInternalAddresses(t *testing.T) {
	t.Parallel()
	w := startJWT(t)
	for _, address := range []string{"http://169.254.169.254/v1", "https://127.0.0.1:1/v1", "https://localhost/v1", "http://models.example.com/v1"} {
		body := `{"message":"Hello.","llm_config":{"baseUrl":"` + address + `","apiKey":"k","modelName":"m"}}`
		r := w.Gateways[0].Do(t, http.MethodPost, "/api/agent/invoke", "", body, bearer(t, "ana"))
		if r.Status != 400 || r.Body["reason"] != "ADDRESS_REFUSED" {
			t.Errorf("%s: %d %s", address, r.Status, r.Raw)
		}
		r = w.Gateways[1].Do(t, http.MethodPost, "/api/tools/mcp/validate", "", `{"name":"m","base_url":"`+address+`"}`, bearer(t, "ana"))
		if r.Body["success"] == true {
			t.Errorf("validate %s: %d %s", address, r.Status, r.Raw)
		}
	}
	if n := len(w.model.Requests()); n != 0 {
		t.Errorf("%d models were asked", n)
	}
}
