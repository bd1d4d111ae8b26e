package pulse

import (
	"context"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
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
	p.settle(t.Context(), []*hub.Node{n}, []*nodev1.NodeBeat{{UserId: "ana", NodeId: "ext"}}, []nodev1.BeatResult{nodev1.BeatResult_BEAT_RESULT_SUPERSEDED})
	if got := <-holder.of; got != n {
		t.Error("another node was renewed")
	}
}

// superseded is a holder that notes whom it is told to close, and by what name and epoch the registry was asked.
type superseded struct {
	Holder
	key   ids.Node
	epoch ids.Epoch
}

func (s *superseded) Superseded(_ *hub.Node, key ids.Node, epoch ids.Epoch) {
	s.key, s.epoch = key, epoch
}

// A node that was renamed while the registry was asked has another name and epoch than those asked for.
func TestASupersededNodeIsThatWhichWasAskedFor(t *testing.T) {
	t.Parallel()
	holder := &superseded{}
	p := &Pulse{Config: Config{Holder: holder}}
	n := hub.NewNode("ana", "extension", &nodev1.NodeInfo{NodeId: "new name"}, nil, nil)
	n.SetEpoch(8)
	beats := []*nodev1.NodeBeat{{UserId: "ana", NodeId: "ext", Epoch: 7}}
	p.settle(t.Context(), []*hub.Node{n}, beats, []nodev1.BeatResult{nodev1.BeatResult_BEAT_RESULT_SUPERSEDED})
	if (holder.key != ids.Node{User: "ana", Node: "ext"}) || holder.epoch != 7 {
		t.Errorf("closed for %v, epoch %d", holder.key, holder.epoch)
	}
}
