package zeus_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// TestConcurrentAskersGetTheirOwnLists: the extension answers in the order of the questions, and each list goes to the
// web client whose question it answers, wherever both are.
func TestConcurrentAskersGetTheirOwnLists(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	const perPod, rounds = 3, 60
	var webs []*cluster.Client
	for i := range 3 * perPod {
		webs = append(webs, c.Gateways[i%3].Web(t, "u"))
	}
	var asking sync.WaitGroup
	for i, web := range webs {
		asking.Go(func() {
			for round := range rounds {
				mark := fmt.Sprintf(`"from":"%d/%d"}`, i, round)
				web.Send(`{"type":"get_workflows",` + mark)
				if got := web.Next(); got != `{"type":"workflows_list",`+mark {
					t.Errorf("%s is answered by %s", mark, got)
				}
			}
		})
	}
	for range len(webs) * rounds {
		ext.Send(strings.Replace(ext.Next(), "get_workflows", "workflows_list", 1))
	}
	asking.Wait()
	ext.Silent()
}
