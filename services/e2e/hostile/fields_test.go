package hostile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// wrong are values of every JSON type, by the type they have.
var wrong = map[string][]string{
	"a string": {`"x"`}, "a number": {`7`, `1.5`, `-1`, `1e400`}, "a boolean": {`true`}, "an object": {`{"x":1}`}, "a list": {`[1]`, `[["x"]]`, `[{"x":1}]`, `["x",null,7]`},
}

// fields are those of register, heartbeat and status, with the values that they may have.
var fields = []struct{ message, field, is string }{
	{"register", "node_id", "a string"}, {"register", "node_name", "a string"}, {"register", "node_type", ""}, {"register", "os", "a string"},
	{"register", "os_version", "a string"}, {"register", "app_version", "a string"}, {"register", "capabilities", ""}, {"register", "available_tools", ""},
	{"register", "max_concurrent_tasks", ""}, {"heartbeat", "status", ""}, {"heartbeat", "current_tasks", ""}, {"status", "status", ""},
}

func TestAWrongTypeInAnyFieldIsAnsweredByTheFieldsName(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Register(`"node_name":"Before","available_tools":["t"],"max_concurrent_tasks":2`)
	before := c.Gateways[1].Get(t, "/api/node/devices", "u").Raw
	for _, f := range fields {
		for kind, values := range wrong {
			for _, value := range values {
				if kind == f.is || f.field == "max_concurrent_tasks" && value == "7" || f.field == "current_tasks" && value == "7" {
					continue
				}
				ext.Send(fmt.Sprintf(`{"type":%q,"x":1,%q:%s}`, f.message, f.field, value))
				want := `{"type":"error","error":"` + f.field + " "
				if f.message == "register" {
					want = `{"type":"registered","success":false,"error":"` + f.field + " "
				}
				if got := ext.Next(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `"}`) {
					t.Errorf("%s, %s: %s answered by %s", f.message, f.field, value, got)
				}
			}
		}
	}
	ext.Silent()
	if after := c.Gateways[1].Get(t, "/api/node/devices", "u").Raw; after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

func TestNumbersThatAreNoneAreAnsweredByTheFieldsName(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	ext := c.Gateways[0].Extension(t, "u", "n")
	for message, problem := range map[string]string{
		`"type":"register","max_concurrent_tasks":0`:                    "max_concurrent_tasks ",
		`"type":"register","max_concurrent_tasks":-3`:                   "max_concurrent_tasks ",
		`"type":"register","max_concurrent_tasks":99999999999`:          "max_concurrent_tasks ",
		`"type":"register","max_concurrent_tasks":99999999999999999999`: "max_concurrent_tasks ",
		`"type":"heartbeat","current_tasks":-1`:                         "current_tasks ",
		`"type":"heartbeat","current_tasks":2147483648`:                 "current_tasks ",
		`"type":"heartbeat","status":"sleeping"`:                        "status ",
		`"type":"heartbeat","status":"ONLINE"`:                          "status ",
		`"type":"status","status":"idle"`:                               "status ",
	} {
		ext.Send("{" + message + "}")
		if got := ext.Next(); !strings.Contains(got, `"error":"`+problem) {
			t.Errorf("%s answered by %s", message, got)
		}
	}
	// The greatest and the least are fine.
	ext.Register(`"max_concurrent_tasks":2147483647`)
	ext.Register(`"max_concurrent_tasks":1`)
	ext.Send(`{"type":"heartbeat","current_tasks":2147483647,"status":""}`)
	ext.Expect(`{"type":"heartbeat_ack"}`)
	ext.Silent()
}

// TestFieldsAreReadByTheirExactNames: what looks like a field is an unknown one, and ignored.
func TestFieldsAreReadByTheirExactNames(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Send(`{"type":"register","NODE_ID":"evil","Node_Name":7,"nodeType":"desktop","max_Concurrent_tasks":"many"}`)
	ext.Expect(`{"type":"registered","node_id":"n","success":true}`)
	ext.Send(`{"type":"heartbeat","Status":"offline","CURRENT_TASKS":"x"}`)
	ext.Expect(`{"type":"heartbeat_ack"}`)
	ext.Silent()
}

// TestARegisterThatIsTooLargeIsRefusedAndNothingChanges: what a node says of itself is kept in memory and in Redis.
func TestARegisterThatIsTooLargeIsRefusedAndNothingChanges(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	ext := c.Gateways[0].Extension(t, "u", "n")
	for _, field := range []string{`"node_name":"` + strings.Repeat("x", 60<<10) + `"`, `"available_tools":["` + strings.Repeat(strings.Repeat("t", 115)+`","`, 511) + `t"]`} {
		ext.Register(field)
	}
	for field, problem := range map[string]string{
		`"node_name":"` + strings.Repeat("x", 70<<10) + `"`:               "bytes",
		`"os":"` + strings.Repeat("x", 1<<20) + `"`:                       "bytes",
		`"available_tools":["` + strings.Repeat(`tool","`, 50000) + `t"]`: "too many entries",
		`"capabilities":["` + strings.Repeat("x", 9<<20) + `"]`:           "bytes",
	} {
		ext.Send(`{"type":"register",` + field + `}`)
		if got := ext.Next(); !strings.HasPrefix(got, `{"type":"registered","success":false,"error":"`) || !strings.Contains(got, problem) {
			t.Errorf("%.60s: %s", field, got)
		}
	}
	ext.Register("")
}
