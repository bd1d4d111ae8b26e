package connector_test

import (
	"errors"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// The second call of a run is placed without a look, where the first one ran. Whatever has become of the node meanwhile, the
// call looks before it is sent, and is decided about again where it would run elsewhere.
func TestCallIsPlacedWhereTheLastOneRan(t *testing.T) {
	t.Parallel()
	another := node("a", browser, "click")
	another.Info.NodeName, another.Epoch = "another device", 2
	again := node("a", browser, "click")
	again.Epoch = 2
	for name, tt := range map[string]struct {
		change func(*gateway)
		moved  bool
		node   string // where the call goes once it is decided about again
		sent   bool   // by the first try
	}{
		"nothing":                       {change: func(*gateway) {}, sent: true},
		"its connection is new":         {change: func(g *gateway) { g.become(again, node("b", browser, "click")) }, sent: true},
		"the session has another node":  {change: func(g *gateway) { g.bind("s", "b") }, moved: true, node: "b"},
		"another device has its id":     {change: func(g *gateway) { g.become(another) }, moved: true, node: "a"},
		"somebody has to choose":        {change: func(g *gateway) { g.bind("s", "") }, moved: true},
		"it has gone, and no other has": {change: func(g *gateway) { g.become() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, s := serve(t, node("a", browser, "click"), node("b", browser, "click"))
			g.bind("s", "a")
			click := gather(t, s, scope("s", "")).Tools[0].(tool.Recalling)
			if _, known := click.Recall(); known {
				t.Error("a place is known before the first call")
			}
			first, err := click.Place(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := click.Call(t.Context(), tool.Invocation{CallID: "1", Args: []byte(`{}`), Node: first.Node, NodeMark: first.Mark}); err != nil {
				t.Fatal(err)
			}
			looks := 0
			unlock := g.lock()
			g.resolved = func() { looks++ }
			unlock()
			at, known := click.Recall()
			if !known || at != first || looks != 0 {
				t.Errorf("recalled is %+v, %t, after %d looks; the first call ran at %+v", at, known, looks, first)
			}
			click.Rely("2")
			tt.change(g)
			_, err = click.Call(t.Context(), tool.Invocation{CallID: "2", Args: []byte(`{}`), Node: at.Node, NodeMark: at.Mark})
			var moved *tool.Moved
			if errors.As(err, &moved) != tt.moved || (err == nil) != tt.sent || looks == 0 {
				t.Errorf("after %d looks: %v", looks, err)
			}
			if sent := len(g.seen()) == 2; sent != tt.sent {
				t.Errorf("%d calls were sent", len(g.seen()))
			}
			if !tt.moved {
				return
			}
			if _, known := click.Recall(); known {
				t.Error("a place is recalled that was wrong")
			}
			var choice *tool.Selection
			if at, err = click.Place(t.Context()); at.Node != tt.node || errors.As(err, &choice) != (tt.node == "") {
				t.Errorf("then it is placed at %+v, %v", at, err)
			}
		})
	}
}

// A call that was not placed so fails as it did: its place was looked up, and maybe shown to a person.
func TestCallThatWasPlacedByALookIsNotPlacedAgain(t *testing.T) {
	t.Parallel()
	g, s := serve(t, node("a", browser, "click"), node("b", browser, "click"))
	g.bind("s", "a")
	click := gather(t, s, scope("s", "")).Tools[0].(tool.Recalling)
	at, err := click.Place(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.bind("s", "b")
	_, err = click.Call(t.Context(), tool.Invocation{CallID: "1", Args: []byte(`{}`), Node: at.Node, NodeMark: at.Mark, Approved: true})
	var moved *tool.Moved
	if err == nil || errors.As(err, &moved) || len(g.seen()) != 0 {
		t.Errorf("%d calls, %v", len(g.seen()), err)
	}
}
