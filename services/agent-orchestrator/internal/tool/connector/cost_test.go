package connector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// A node's result may not cost an orchestrator, which runs other users' agents, many times its bytes.
func TestAResultCostsAFewTimesItsBytes(t *testing.T) {
	const n = 300_000
	var names strings.Builder
	for i := range n {
		fmt.Fprintf(&names, `"%d":1,`, i)
	}
	for name, raw := range map[string]string{
		"members": `{` + names.String() + `"":1}`, "items": `{"content":[` + strings.Repeat(`{},`, n) + `{}]}`,
		"a tool's items": `{"success":true,"content":[` + strings.Repeat(`{},`, n) + `{}]}`, "list": `[` + strings.Repeat(`1,`, n) + `1]`,
		"nested": `{"content":` + strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500) + `}`,
	} {
		cost := testkit.Allocated(func() { resultOf(raw) })
		if most := 12*len(raw) + 4<<20; cost > most { // the text that the model gets is put together in a few steps
			t.Errorf("%s: %d bytes for %d", name, cost, len(raw))
		}
	}
}
