package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// What a node gives of its tools when it registers at one gateway is what the model of a run at another is told: the schema as it
// is, and the description as the node's words.
func TestAModelIsToldWhatANodeSaysOfItsTools(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	w.model.Script(modeltest.Say("").Then(modeltest.Call("brew", `{"cups":2}`)), modeltest.Say("Done."))
	node := w.Gateways[0].Extension(t, "ana", "kitchen")
	node.Register(`"node_name":"Kitchen","tools":[{"name":"brew","description":"Makes coffee.","inputSchema":{"type":"object","properties":{"cups":{"type":"integer","maximum":12}},"required":["cups"]}}]`)
	node.Serve(func(c cluster.ToolCall) string { return cluster.Text("brewed") })
	w.Gateways[1].RunEverything(t, "ana")
	run := w.Gateways[1].Invoke(t, "ana", `{"message":"Coffee for two."}`)
	if e := run.Until("tool_call_result"); e.Result != "brewed" {
		t.Error(e.Data)
	}
	run.Complete("stop")
	type function struct {
		Function struct {
			Name, Description string
			Parameters        any
		}
	}
	var body struct{ Tools []function }
	if err := json.Unmarshal(w.model.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(body.Tools, func(f function) bool { return f.Function.Name == "brew" })
	if i < 0 {
		t.Fatalf("the model was not told of the tool: %+v", body)
	}
	told := body.Tools[i].Function
	if want := `A tool of the node "Kitchen" (browser), which describes it so: "Makes coffee."`; told.Description != want {
		t.Errorf("the model was told %s", told.Description)
	}
	if got := fmt.Sprint(told.Parameters); got != "map[properties:map[cups:map[maximum:12 type:integer]] required:[cups] type:object]" {
		t.Error(got)
	}
}
