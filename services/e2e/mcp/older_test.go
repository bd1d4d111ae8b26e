package mcp_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// The official client with a session, whose requests never come to the same pod twice in a row: its cancel and its stream of changes
// are at other pods than its calls and its list.
func TestTheOfficialClientOfAnOlderRevisionBehindABalancer(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		news := make(chan struct{}, 100)
		client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
			ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { news <- struct{}{} },
		})
		endpoint := "http://" + cluster.Balancer(t, "ana", c.Gateways...) + "/mcp"
		s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: endpoint}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // the server has no DELETE, so it may say so
		if got := s.InitializeResult().ProtocolVersion; got != version || s.ID() == "" {
			t.Fatalf("version %s, session %q", got, s.ID())
		}
		for range 4 { // five requests each, so that every kind comes to both pods
			if err := s.Ping(t.Context(), nil); err != nil {
				t.Errorf("%s: %v", version, err)
			}
			if got := tools(t, s); !slices.Contains(got, "click") {
				t.Errorf("%s: %q", version, got)
			}
			done := called(t.Context(), s, "click")
			node.Answer(node.Call(), cluster.Text("clicked"))
			if got := ended(t, done); got.err != nil || got.Content[0].(*sdk.TextContent).Text != "clicked" {
				t.Errorf("%s: %+v", version, got)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done = called(ctx, s, "click")
			call := node.Call()
			cancel()
			if got := node.Call(); got.Method != "notifications/cancelled" || got.Params.RequestID != call.ID {
				t.Errorf("%s: the device heard %s", version, got.Frame)
			}
			if got := ended(t, done); !errors.Is(got.err, context.Canceled) {
				t.Errorf("%s: the cancelled call: %+v", version, got)
			}
		}
		added := "added-" + version
		node.Register(`"available_tools":["click","` + added + `"]`)
		heard(t, news, func() bool { return slices.Contains(tools(t, s), added) })
	}
}

// heard waits for a notification after which there is what was awaited.
func heard(t *testing.T, news <-chan struct{}, there func() bool) {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		select {
		case <-news:
			if there() {
				return
			}
		case <-timeout:
			t.Fatal("nothing was heard of a change")
		}
	}
}

// tools are the names that a client lists.
func tools(t *testing.T, s *sdk.ClientSession) (names []string) {
	t.Helper()
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// end is how a call ended.
type end struct {
	*sdk.CallToolResult
	err error
}

func called(ctx context.Context, s *sdk.ClientSession, name string) <-chan end {
	done := make(chan end, 1)
	go func() {
		r, err := s.CallTool(ctx, &sdk.CallToolParams{Name: name})
		done <- end{r, err}
	}()
	return done
}

func ended(t *testing.T, done <-chan end) end {
	t.Helper()
	select {
	case e := <-done:
		return e
	case <-time.After(15 * time.Second):
		t.Fatal("the call did not end")
		return end{}
	}
}
