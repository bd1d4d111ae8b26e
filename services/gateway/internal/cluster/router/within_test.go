package router

import (
	"errors"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

func online(id string) *nodev1.Node {
	return &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: id}, IsConnected: true}
}

// Who may reach some nodes only gets one of them or none, however it asks.
func TestChooseWithinSomeNodes(t *testing.T) {
	t.Parallel()
	away := online("away")
	away.IsConnected = false
	for name, tt := range map[string]struct {
		within auth.Nodes
		target Target
		bound  string
		want   ids.NodeID
		err    errs.Reason
	}{
		"the first of those":          {within: auth.OnlyNodes("c", "b"), want: "b"},
		"the one that is named":       {within: auth.OnlyNodes("c", "b"), target: Target{Node: "c"}, want: "c"},
		"another that is named":       {within: auth.OnlyNodes("c", "b"), target: Target{Node: "a"}, err: errs.InsufficientScope},
		"the preferred one":           {within: auth.OnlyNodes("c", "b"), target: Target{Preferred: "c"}, want: "c"},
		"another is preferred":        {within: auth.OnlyNodes("c", "b"), target: Target{Preferred: "a"}, want: "b"},
		"the session's":               {within: auth.OnlyNodes("c", "b"), target: Target{Session: "s"}, bound: "c", want: "c"},
		"another is the session's":    {within: auth.OnlyNodes("c", "b"), target: Target{Session: "s"}, bound: "a", err: errs.InsufficientScope},
		"a session without, of two":   {within: auth.OnlyNodes("c", "b"), target: Target{Session: "s"}, err: errs.RequiresSelection},
		"a session without, of one":   {within: auth.OnlyNodes("c", "away"), target: Target{Session: "s"}, want: "c"},
		"one that is away":            {within: auth.OnlyNodes("away"), err: errs.NodeNotConnected},
		"none":                        {within: auth.OnlyNodes(), err: errs.NodeNotConnected},
		"one that nobody could mean":  {within: auth.NewGrant([]string{"node:%zz"}).Nodes, target: Target{Node: "a"}, err: errs.InsufficientScope},
		"one whose name is not plain": {within: auth.NewGrant([]string{auth.NodeScope(`my "desk" %`)}).Nodes, target: Target{Node: `my "desk" %`}, want: `my "desk" %`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Router{Config: Config{Directory: &pod{nodes: []*nodev1.Node{online("a"), away, online("b"), online("c")}, bound: tt.bound}}}
			tt.target.User, tt.target.Within = "ana", tt.within
			got, err := r.Choose(t.Context(), tt.target)
			var e *errs.Error
			if errors.As(err, &e) != (tt.err != "") || e != nil && e.Reason != tt.err || err == nil && got != tt.want {
				t.Errorf("%q, %v", got, err)
			}
			if e != nil && e.Reason == errs.RequiresSelection && len(e.Nodes) != 2 {
				t.Errorf("to choose from: %v", e.Nodes)
			}
		})
	}
}
