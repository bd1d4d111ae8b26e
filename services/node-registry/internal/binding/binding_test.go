package binding_test

import (
	"context"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/binding"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rival is a store on which another replica binds the session between a resolver's look and its decision. The rules
// themselves are tested through the service, on every kind of Redis.
type rival struct {
	*store.Store
	node ids.NodeID
}

func (r rival) Adopt(ctx context.Context, user ids.UserID, session ids.SessionID, node ids.NodeID) (ids.NodeID, error) {
	if _, err := r.Store.Adopt(ctx, user, session, r.node); err != nil {
		return "", err
	}
	return r.Store.Adopt(ctx, user, session, node)
}

func TestAnotherReplicaWasFaster(t *testing.T) {
	t.Parallel()
	const extension, desktop = nodev1.NodeType_NODE_TYPE_EXTENSION, nodev1.NodeType_NODE_TYPE_DESKTOP
	s := registrytest.Store(t, testkit.Redis(t), store.DefaultRules)
	user := ids.UserID(testkit.Prefix(t))
	for node, kind := range map[string]nodev1.NodeType{"a": extension, "b": extension, "desk": desktop} {
		info, err := store.NewInfo(&nodev1.NodeInfo{NodeId: node, NodeType: kind})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Register(t.Context(), []store.Registration{{User: user, Gateway: "gw-1", Info: info}})[0]; got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	for _, tt := range []struct {
		rival ids.NodeID
		kind  nodev1.NodeType
		want  ids.NodeID
		bound bool
	}{
		{"b", extension, "b", true},                                   // its choice counts
		{"left already", extension, "left already", true},             // also of a node that cannot be seen
		{"desk", nodev1.NodeType_NODE_TYPE_UNSPECIFIED, "desk", true}, // any type will do
		{"desk", extension, "a", false},                               // bound for the other type
	} {
		session := ids.SessionID(string(tt.rival) + tt.kind.String())
		got, err := binding.NewResolver(rival{s, tt.rival}).Resolve(t.Context(), binding.Query{User: user, Session: session, Preferred: "a", Type: tt.kind})
		if err != nil || got.Node != tt.want || got.Bound != tt.bound {
			t.Errorf("rival %q, type %v: got %+v, error %v; want %q, bound %v", tt.rival, tt.kind, got, err, tt.want, tt.bound)
		}
	}
}
