package zeus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// brew is a definition of a tool.
func brew(description string) string {
	return `{"name":"brew","description":"` + description + `","inputSchema":{"type":"object","properties":{"cups":{"type":"integer"}}},"annotations":{"readOnlyHint":true}}`
}

// device is a user's only node, as a pod lists it.
func device(t *testing.T, g *cluster.Gateway, user string) *nodev1.NodeInfo {
	t.Helper()
	list, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: user})
	if err != nil || len(list.GetNodes()) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	return list.GetNodes()[0].GetInfo()
}

// given returns what a pod tells of the definitions that a node gave, one a line.
func given(t *testing.T, g *cluster.Gateway, user string, node *nodev1.NodeInfo) string {
	t.Helper()
	resp, err := g.Tools.GetTools(t.Context(), &toolv1.GetToolsRequest{UserId: user, Digest: node.GetToolsDigest()})
	if err != nil {
		return status.Code(err).String()
	}
	defs, err := tooldef.Unpack(resp.GetTools(), node.GetToolsDigest())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range defs {
		lines = append(lines, string(d.Append(nil)))
	}
	return strings.Join(lines, "\n")
}

// Definitions that a node gives are known on every pod once it is registered; a bad one costs its tool the description, and the
// node hears of it.
func TestDefinitionsOfANodeAreKnownOnEveryPod(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	web := c.Gateways[0].Extension(t, "u", "n")
	web.Send(`{"type":"register","available_tools":["click"],"tools":[` + brew("Makes coffee.") + `,{"name":"pour","inputSchema":{"type":"object","properties":{"x":{"$ref":"http://10.0.0.1/"}}}}]}`)
	web.Expect(`{"type":"registered","node_id":"n","success":true}`)
	web.Expect(`{"type":"error","error":"definitions of tools were refused: tools[1] \"pour\": inputSchema has the $ref \"http://10.0.0.1/\"; only one that begins with # is followed"}`)
	for pod, g := range c.Gateways {
		node := device(t, g, "u")
		if got := given(t, g, "u", node); got != brew("Makes coffee.") || !slices.Equal(node.GetAvailableTools(), []string{"click", "brew", "pour"}) {
			t.Errorf("pod %d: %v has %s", pod, node.GetAvailableTools(), got)
		}
	}
	// All three can be called, and no other.
	for name, want := range map[string]codes.Code{"pour": codes.OK, "spill": codes.FailedPrecondition} {
		r := call(t.Context(), t, c.Gateways[1], &toolv1.Call{UserId: "u", ToolName: name})
		if want == codes.OK {
			web.Answer(web.Call(), `{}`)
		}
		if <-r.done; status.Code(r.err) != want {
			t.Errorf("%s: %v", name, r.err)
		}
	}
	// A digest is of one user: nobody else has it, as far as a pod does not remember it.
	if got := given(t, c.Gateways[0], "u", &nodev1.NodeInfo{ToolsDigest: strings.Repeat("A", 43)}); got != codes.NotFound.String() {
		t.Error(got)
	}
	before := device(t, c.Gateways[1], "u").GetToolsDigest()
	web.Send(`{"type":"register","tools":[` + brew("Makes tea.") + `]}`)
	web.Expect(`{"type":"registered","node_id":"n","success":true}`)
	if node := device(t, c.Gateways[1], "u"); node.GetToolsDigest() == before || given(t, c.Gateways[1], "u", node) != brew("Makes tea.") || !slices.Equal(node.GetAvailableTools(), []string{"brew"}) {
		t.Errorf("%v has %s", node, given(t, c.Gateways[1], "u", node))
	}
	web.Send(`{"type":"register","available_tools":["brew"]}`)
	web.Expect(`{"type":"registered","node_id":"n","success":true}`)
	if node := device(t, c.Gateways[1], "u"); node.GetToolsDigest() != "" {
		t.Errorf("%v", node)
	}
}

// What is not a list of at most 512 is refused as a whole, and changes nothing.
func TestDefinitionsThatAreNoListAreRefused(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	web := c.Gateways[0].Extension(t, "u", "n")
	web.Register(`"tools":[` + brew("Makes coffee.") + `]`)
	before := device(t, c.Gateways[1], "u").GetToolsDigest()
	for tools, want := range map[string]string{
		`{}`: "tools must be a list of tool objects", `"a"`: "tools must be a list of tool objects",
		`[` + strings.Repeat("0,", 512) + `0]`: "tools has 513 definitions, at most 512 are allowed",
	} {
		web.Send(`{"type":"register","tools":` + tools + `}`)
		web.Expect(`{"type":"registered","success":false,"error":"` + want + `"}`)
	}
	if node := device(t, c.Gateways[1], "u"); node.GetToolsDigest() != before || before == "" {
		t.Errorf("%v", node)
	}
}

// The registry's store may lose everything: the node says nothing again, and its definitions are back.
func TestDefinitionsSurviveAnEmptyStore(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	web := c.Gateways[0].Extension(t, "u", "n")
	web.Register(`"tools":[` + brew("Makes coffee.") + `]`)
	c.Redis.Flush()
	testkit.Eventually(t, 30*time.Second, func() bool {
		list, err := c.Gateways[1].Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
		return err == nil && len(list.GetNodes()) == 1 && given(t, c.Gateways[1], "u", list.GetNodes()[0].GetInfo()) == brew("Makes coffee.")
	}, "the definitions are back")
	web.Silent()
}

// A large list of definitions takes the same way, and a message that is too large is refused.
func TestLargeDefinitions(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	web := c.Gateways[0].Extension(t, "u", "n")
	var tools []string
	for i := range 60 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"%s","inputSchema":{"type":"object"}}`, i, strings.Repeat(string(rune('a'+i%26)), 4000)))
	}
	web.Register(`"tools":[` + strings.Join(tools, ",") + `]`)
	if got := strings.Split(given(t, c.Gateways[1], "u", device(t, c.Gateways[1], "u")), "\n"); !slices.Equal(got, tools) {
		t.Errorf("%d definitions are left", len(got))
	}
	web.Send(`{"type":"register","tools":["` + strings.Repeat("x", 512<<10) + `"]}`)
	web.Expect(`{"type":"registered","success":false,"error":"the register message has 524320 bytes, at most 524288 are allowed"}`)
}
