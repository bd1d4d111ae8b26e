package mcp_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// listening opens a stream of changes in the stateless era, whose request has that id.
func listening(t *testing.T, g *cluster.Gateway, id string) *events {
	t.Helper()
	body, h := newerRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true}`, "")
	body = `{"jsonrpc":"2.0","id":` + id + body[len(`{"jsonrpc":"2.0","id":7`):]
	stream := follow(t, open(t, g, http.MethodPost, "", body, h))
	ack := stream.next(t)
	if ack["method"] != "notifications/subscriptions/acknowledged" || fmt.Sprint(at(ack, "params", "notifications")) != "map[toolsListChanged:true]" {
		t.Fatalf("%v", ack)
	}
	return stream
}

func changed(t *testing.T, m map[string]any, id any) {
	t.Helper()
	if m["method"] != "notifications/tools/list_changed" || at(m, "params", "_meta", "io.modelcontextprotocol/subscriptionId") != id {
		t.Fatalf("%v", m)
	}
}

func TestAChangeIsOnEveryStreamAndNeverOvertakesTheList(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	a, b, last := c.Gateways[0], c.Gateways[1], c.Gateways[2]
	number, text := listening(t, b, "7"), listening(t, last, `"s"`)
	s := session(t, a, "2025-06-18", "")
	get := open(t, last, http.MethodGet, "", "", s)
	if get.Status != 200 || get.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatal(get.Status)
	}
	older := follow(t, get)
	hear := func(want ...string) {
		t.Helper()
		changed(t, number.next(t), 7.0)
		same(t, "what is listed at once", listed(t, last, ""), want...)
		changed(t, text.next(t), "s")
		if m := older.next(t); m["method"] != "notifications/tools/list_changed" || m["id"] != nil {
			t.Fatalf("%v", m)
		}
	}
	node := a.Extension(t, "ana", "n1")
	node.Register(`"available_tools":["click"]`)
	testkit.Eventually(t, 5*time.Second, func() bool { return len(listed(t, b, "")) == 2 }, "the tool is not listed")
	// A socket without tools may have been announced before it registered.
	settle := func(e *events) {
		for {
			select {
			case <-e.messages:
			case <-time.After(100 * time.Millisecond):
				return
			}
		}
	}
	for _, e := range []*events{number, text, older} {
		settle(e)
	}
	node.Register(`"available_tools":["click","type"]`)
	hear("devices", "n1__click", "n1__type")
	node.Send(`{"type":"status","status":"busy","current_tasks":1}`) // no change of the list
	node.Ping()
	node.Register(`"available_tools":["type"]`)
	hear("devices", "n1__type")
	node.Close()
	hear("devices")
	for _, e := range []*events{number, text, older} {
		if len(e.messages) > 0 {
			t.Errorf("more than there were changes: %v", <-e.messages)
		}
	}
}

func TestABurstOfChangesIsToldInFew(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	stream := listening(t, c.Gateways[1], "7")
	node := c.Gateways[0].Extension(t, "ana", "n1")
	const changes = 200
	began := time.Now()
	for i := range changes {
		node.Register(fmt.Sprintf(`"available_tools":["t%d"]`, i))
	}
	want := fmt.Sprintf("n1__t%d", changes-1)
	told := 0
	for !slices.Contains(listed(t, c.Gateways[1], ""), want) || told == 0 || len(stream.messages) > 0 {
		changed(t, stream.next(t), 7.0)
		told++
	}
	const gap = 20 * time.Millisecond // of package changes
	if took := time.Since(began); told > min(changes, int(took/gap)+2) {
		t.Errorf("%d changes in %v were told in %d notifications", changes, took, told)
	}
}

func TestADrainEndsStreamsAsTheSpecificationSays(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	stream := listening(t, c.Gateways[0], "7")
	get := follow(t, open(t, c.Gateways[0], http.MethodGet, "", "", session(t, c.Gateways[0], "2025-11-25", "")))
	c.Gateways[0].Drain(t, "")
	m := stream.next(t)
	if m["id"] != 7.0 || at(m, "result", "resultType") != "complete" || at(m, "result", "_meta", "io.modelcontextprotocol/subscriptionId") != 7.0 {
		t.Errorf("%v", m)
	}
	if m := stream.next(t); m != nil {
		t.Errorf("%v behind the result", m)
	}
	if m := get.next(t); m != nil {
		t.Errorf("%v instead of the end", m)
	}
	listening(t, c.Gateways[1], "8")
}
