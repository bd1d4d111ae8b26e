package mcp_test

import (
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// asAna adds the user of trusted mode.
type asAna struct{}

func (asAna) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-User-Id", "ana")
	return http.DefaultTransport.RoundTrip(r)
}

func TestTheOfficialClientCallsADeviceOfAnotherPod(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	node.Serve(func(call cluster.ToolCall) string {
		return cluster.Text(call.Params.Name + " " + string(call.Params.Arguments))
	})
	for _, g := range c.Gateways {
		client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://" + g.HTTP + "/mcp", HTTPClient: &http.Client{Transport: asAna{}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for tool, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		t.Log(names, s.InitializeResult())
		got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "click", Arguments: map[string]any{"x": 1}})
		if err != nil || got.IsError || got.Content[0].(*sdk.TextContent).Text != `click {"x":1}` {
			t.Errorf("%v %+v", err, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBothErasAtBothPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	a, b := c.Gateways[0], c.Gateways[1]
	node := a.Extension(t, "ana", "n1")
	node.Register(chrome)
	node.Serve(func(call cluster.ToolCall) string { return cluster.Text(call.Params.Name) })
	s := session(t, a, "2025-06-18", "")
	for _, g := range []*cluster.Gateway{a, b} {
		if r := newer(t, g, "", "tools/list", "", ""); r.Status != 200 || r.at("result", "tools", "0", "name") != "click" || r.at("result", "resultType") != "complete" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := newer(t, g, "", "tools/call", `"name":"click"`, ""); r.text() != "click" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := older(t, g, s, "", "tools/list", ""); r.at("result", "tools", "1", "name") != "devices" || r.at("result", "resultType") != nil {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := older(t, g, s, "", "tools/call", `"name":"n1__screenshot"`); r.text() != "screenshot" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	}
}
