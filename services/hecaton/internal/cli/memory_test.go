package cli_test

import (
	"strings"
	"testing"
)

// What hecaton memory does is seen in a cluster.
func TestMemory(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	memory := func(want int, says string, args ...string) string {
		t.Helper()
		p := start(t, nil, append([]string{"memory", "--server", "http://" + c.Gateways[1].HTTP, "--user", "ana"}, args...)...)
		code := p.wait()
		out := p.out.String() + p.err.String()
		if code != want || !strings.Contains(out, says) {
			t.Errorf("%v: %d %s", args, code, out)
		}
		return out
	}
	id := strings.TrimSpace(strings.TrimPrefix(memory(0, "remembered as mem_", "--type", "preference", "add", "likes", "green tea"), "remembered as "))
	memory(0, "likes green tea", "list")
	memory(0, id, "search", "tea")
	memory(0, "- preference: likes green tea", "profile")
	memory(2, "confirm=true", "forget-all", "user")
	memory(0, "forgotten", "forget", id)
	memory(3, "no memory", "forget", id)
	memory(0, "0 forgotten", "--yes", "forget-all", "user")
	memory(2, "needs what it is about", "add")
	memory(2, "give list", "dance", "now")
}
