package pulse

import (
	"context"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// renewals is a holder that notes whom it renews.
type renewals struct {
	Holder
	of chan *hub.Node
}

func (r renewals) Renew(_ context.Context, n *hub.Node) { r.of <- n }

// What supersedes a node in the registry may be its own registration, of which the pod has not heard.
func TestANodeWhoseRegistrationWentUnansweredIsNotClosedForIt(t *testing.T) {
	t.Parallel()
	holder := renewals{of: make(chan *hub.Node, 1)}
	p := &Pulse{Config: Config{Holder: holder}}
	n := hub.NewNode("ana", "extension", &nodev1.NodeInfo{NodeId: "ext"}, nil, nil) // no connection: closing it would panic
	n.Unregistered.Store(true)
	p.settle(t.Context(), []*hub.Node{n}, []nodev1.BeatResult{nodev1.BeatResult_BEAT_RESULT_SUPERSEDED})
	if got := <-holder.of; got != n {
		t.Error("another node was renewed")
	}
}
