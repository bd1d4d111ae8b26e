package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestDefinitionsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	var d definitions
	if list, err := d.list(nil); list != nil || err != nil {
		t.Errorf("no tools: %s, %v", list, err)
	}
	a := Function{Name: "a", Description: `says "<a>"`, Parameters: json.RawMessage(`{ "type": "object" }`)}
	b := Function{Name: "a", Description: `says "<a>"`, Parameters: json.RawMessage(`{`)}
	const first = `{"function":{"name":"a","description":"says \"\u003ca\u003e\"","parameters":{"type":"object"}},"type":"function"}`
	const second = `{"function":{"name":"a","description":"says \"\u003ca\u003e\"","parameters":{"type":"object","properties":{}}},"type":"function"}`
	for range 2 {
		list, err := d.list([]Function{a, b, a})
		if want := "[" + first + "," + second + "," + first + "]"; err != nil || string(list) != want {
			t.Errorf("%s, %v; want %s", list, err, want)
		}
	}
	if len(d.encoded) != 2 {
		t.Errorf("%d definitions are kept", len(d.encoded))
	}
}

// What is kept is bounded, whatever tools users bring; many runs ask at once.
func TestDefinitionsAreBounded(t *testing.T) {
	t.Parallel()
	var d definitions
	var asking sync.WaitGroup
	long := strings.Repeat("x", 64<<10)
	for run := range 4 {
		asking.Go(func() {
			for i := range 100 {
				name := fmt.Sprint("tool_", run, "_", i)
				list, err := d.list([]Function{{Name: name, Description: long}})
				if err != nil || !strings.Contains(string(list), name) {
					t.Errorf("%d bytes, %v", len(list), err)
				}
			}
		})
	}
	asking.Wait()
	if most := maxDefinitions + 3*len(long); d.size > most || d.size == 0 {
		t.Errorf("%d bytes are kept, at most %d may be", d.size, most)
	}
}
