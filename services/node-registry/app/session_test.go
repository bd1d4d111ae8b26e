package app_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
)

// sessions is a user with some nodes.
type sessions struct {
	*testing.T
	*replica
	user   string
	epochs map[string]int64
	age    time.Duration
}

// connect registers a node; each connected later than the one before.
func (s *sessions) connect(node string, kind nodev1.NodeType, status nodev1.NodeStatus) {
	s.Helper()
	reg := registration(s.user, node, kind)
	reg.Status = status
	s.age += time.Second
	reg.ConnectedAt = timestamppb.New(time.Now().Add(s.age - time.Hour))
	s.epochs[node] = s.registerAs(s.T, reg)
}

func (s *sessions) leave(node string) {
	s.Helper()
	s.deregister(s.T, &nodev1.NodeRef{UserId: s.user, NodeId: node, Epoch: s.epochs[node]})
}

func (s *sessions) bind(session, node string) *nodev1.Node {
	s.Helper()
	res, err := s.BindSession(s.Context(), &nodev1.BindSessionRequest{UserId: s.user, SessionId: session, NodeId: node})
	if err != nil {
		s.Fatal(err)
	}
	return res.GetNode()
}

// resolved is an answer of ResolveNode, or what it should be.
type resolved struct {
	node      string
	bound     bool
	selection []string
}

func (s *sessions) resolve(session, preferred string, kind nodev1.NodeType, want resolved) {
	s.Helper()
	res, err := s.ResolveNode(s.Context(), &nodev1.ResolveNodeRequest{
		UserId: s.user, SessionId: session, PreferredNodeId: preferred, NodeType: kind,
	})
	if err != nil {
		s.Fatal(err)
	}
	if res.GetNodeId() != want.node || res.GetBound() != want.bound || res.GetRequiresSelection() != (len(want.selection) > 0) ||
		!slices.Equal(names(res.GetAvailableNodes()), append([]string{}, want.selection...)) {
		s.Errorf("session %q, preferred %q, type %v: got %v, want %+v", session, preferred, kind, res, want)
	}
}

// described asks for the node of a session itself.
func (s *sessions) described(session string) *nodev1.ResolveNodeResponse {
	s.Helper()
	res, err := s.ResolveNode(s.Context(), &nodev1.ResolveNodeRequest{UserId: s.user, SessionId: session, Describe: true})
	if err != nil {
		s.Fatal(err)
	}
	return res
}

func (s *sessions) get(session string, kind nodev1.NodeType) *nodev1.GetSessionResponse {
	s.Helper()
	res, err := s.GetSession(s.Context(), &nodev1.GetSessionRequest{UserId: s.user, SessionId: session, NodeType: kind})
	if err != nil {
		s.Fatal(err)
	}
	return res
}

const (
	anyType    = nodev1.NodeType_NODE_TYPE_UNSPECIFIED
	isOnline   = nodev1.NodeStatus_NODE_STATUS_ONLINE
	isBusy     = nodev1.NodeStatus_NODE_STATUS_BUSY
	saysItsOff = nodev1.NodeStatus_NODE_STATUS_OFFLINE
)

func TestWhichNode(t *testing.T) {
	t.Parallel()
	cases := map[string]func(s *sessions){
		"no node": func(s *sessions) {
			s.resolve("s", "", anyType, resolved{})
			s.resolve("", "", anyType, resolved{})
			s.resolve("s", "never", anyType, resolved{})
		},
		"described": func(s *sessions) {
			if got := s.described("s"); got.GetNode() != nil {
				s.Errorf("there is no node, and it is described as %v", got)
			}
			s.connect("a", extension, isOnline)
			for _, when := range []string{"bound by this question", "bound before"} {
				if got := s.described("s"); !got.GetBound() || got.GetNode().GetEpoch() != s.epochs["a"] || !got.GetNode().GetIsConnected() {
					s.Errorf("%s: %v", when, got)
				}
			}
			s.connect("b", extension, isOnline)
			s.bind("s", "b")
			if got := s.described("s"); got.GetNode().GetInfo().GetNodeId() != "b" || got.GetNode().GetEpoch() != s.epochs["b"] {
				s.Errorf("after another binding: %v", got)
			}
			s.leave("b")
			if got := s.described("s"); got.GetNodeId() != "b" || got.GetNode().GetIsConnected() || got.GetNode().GetInfo().GetNodeType() != extension {
				s.Errorf("after the node left: %v", got)
			}
		},
		"one node is bound": func(s *sessions) {
			s.connect("a", extension, isOnline)
			s.resolve("s", "", anyType, resolved{node: "a", bound: true})
			s.connect("b", extension, isOnline)
			s.resolve("s", "", anyType, resolved{node: "a", bound: true})
			s.resolve("s", "b", anyType, resolved{node: "a", bound: true}) // bound wins over preferred
		},
		"several need a selection": func(s *sessions) {
			s.connect("a", extension, isOnline)
			s.connect("b", desktop, isBusy)
			s.resolve("s", "", anyType, resolved{selection: []string{"a", "b"}})
			s.resolve("s", "", desktop, resolved{node: "b", bound: true}) // one of that type
			s.resolve("s", "", anyType, resolved{node: "b", bound: true})
		},
		"preferred": func(s *sessions) {
			s.connect("a", extension, isOnline)
			s.connect("b", extension, isOnline)
			s.resolve("s1", "never", anyType, resolved{selection: []string{"a", "b"}})
			s.resolve("s1", "b", desktop, resolved{})
			s.resolve("s1", "b", anyType, resolved{node: "b", bound: true})
			s.resolve("s1", "", anyType, resolved{node: "b", bound: true})
			s.leave("a")
			s.resolve("s2", "a", anyType, resolved{node: "b", bound: true}) // it left
		},
		"without a session": func(s *sessions) {
			s.connect("a", extension, saysItsOff)
			s.connect("b", desktop, isOnline)
			s.connect("c", extension, isOnline)
			s.resolve("", "", anyType, resolved{node: "b"})
			s.resolve("", "", extension, resolved{node: "c"})
			s.resolve("", "c", anyType, resolved{node: "c"})
			s.resolve("", "a", anyType, resolved{node: "a"}) // named, not selected
			s.resolve("", "never", anyType, resolved{node: "b"})
			s.resolve("", "c", desktop, resolved{node: "b"})
		},
		"offline by heartbeat is out of selection": func(s *sessions) {
			s.connect("a", extension, isOnline)
			s.connect("b", extension, isOnline)
			off := &nodev1.NodeBeat{UserId: s.user, NodeId: "a", Epoch: s.epochs["a"], Status: saysItsOff}
			if got := s.beat(s.T, off); got[0] != beatOK {
				s.Fatal(got)
			}
			res, err := s.ListNodes(s.Context(), &nodev1.ListNodesRequest{UserId: s.user})
			if err != nil || len(res.GetNodes()) != 2 || res.GetNodes()[0].GetStatus() != saysItsOff || !res.GetNodes()[0].GetIsConnected() {
				s.Errorf("nodes: %v, error %v", res.GetNodes(), err)
			}
			if got := s.get("s", anyType); !slices.Equal(names(got.GetAvailableNodes()), []string{"b"}) {
				s.Errorf("session: %v", got)
			}
			s.resolve("s", "", anyType, resolved{node: "b", bound: true})
			s.connect("c", extension, isOnline)
			s.resolve("s2", "", anyType, resolved{selection: []string{"b", "c"}})
		},
		"a binding outlives its node": func(s *sessions) {
			s.connect("a", extension, isOnline)
			s.resolve("s", "", anyType, resolved{node: "a", bound: true})
			s.leave("a")
			s.connect("b", extension, isOnline)
			s.resolve("s", "", anyType, resolved{node: "a", bound: true})
			s.resolve("s", "b", anyType, resolved{node: "a", bound: true})
			if got := s.get("s", anyType); got.GetNodeId() != "a" || got.GetNode().GetIsConnected() || got.GetNode().GetStatus() != saysItsOff ||
				got.GetNode().GetInfo().GetNodeName() != "name of a" || got.GetRequiresSelection() || len(got.GetAvailableNodes()) != 0 {
				s.Errorf("session: %v", got)
			}
			s.bind("s", "b")
			s.resolve("s", "", anyType, resolved{node: "b", bound: true})
		},
		"bound to a node of the other type": func(s *sessions) {
			s.connect("ext", extension, isOnline)
			s.connect("desk", desktop, isOnline)
			s.bind("s", "ext")
			s.resolve("s", "", desktop, resolved{node: "desk"})
			s.connect("desk2", desktop, isOnline)
			s.resolve("s", "", desktop, resolved{selection: []string{"desk", "desk2"}})
			s.resolve("s", "desk2", desktop, resolved{node: "desk2"})
			if got := s.get("s", desktop); got.GetNodeId() != "" || !got.GetRequiresSelection() {
				s.Errorf("session for desktops: %v", got)
			}
			s.leave("ext") // its type is known still
			s.resolve("s", "desk", desktop, resolved{node: "desk"})
			s.resolve("s", "", extension, resolved{node: "ext", bound: true})
			s.resolve("s", "", anyType, resolved{node: "ext", bound: true})
		},
		"get changes nothing": func(s *sessions) {
			if got := s.get("s", anyType); got.GetNodeId() != "" || got.GetNode() != nil || got.GetRequiresSelection() || len(got.GetAvailableNodes()) != 0 {
				s.Errorf("without nodes: %v", got)
			}
			s.connect("a", extension, isOnline)
			if got := s.get("s", anyType); got.GetNodeId() != "" || got.GetNode() != nil || got.GetRequiresSelection() ||
				!slices.Equal(names(got.GetAvailableNodes()), []string{"a"}) {
				s.Errorf("with one node: %v", got)
			}
			s.connect("b", desktop, isOnline)
			if got := s.get("s", anyType); got.GetNodeId() != "" || !got.GetRequiresSelection() ||
				!slices.Equal(names(got.GetAvailableNodes()), []string{"a", "b"}) {
				s.Errorf("with two nodes: %v", got)
			}
			if got := s.get("s", desktop); got.GetRequiresSelection() || !slices.Equal(names(got.GetAvailableNodes()), []string{"b"}) {
				s.Errorf("with one desktop: %v", got)
			}
			s.bind("s", "a")
			if got := s.get("s", anyType); got.GetNodeId() != "a" || !got.GetNode().GetIsConnected() || got.GetNode().GetInfo().GetNodeName() != "name of a" ||
				got.GetRequiresSelection() || len(got.GetAvailableNodes()) != 0 {
				s.Errorf("bound: %v", got)
			}
		},
		"bind": func(s *sessions) {
			_, err := s.BindSession(s.Context(), &nodev1.BindSessionRequest{UserId: s.user, SessionId: "s", NodeId: "never"})
			if status.Code(err) != codes.NotFound {
				s.Errorf("bound to a node never seen: %v", err)
			}
			s.connect("a", extension, isOnline)
			if got := s.bind("s", "a"); !got.GetIsConnected() || got.GetInfo().GetNodeName() != "name of a" || got.GetEpoch() != s.epochs["a"] {
				s.Errorf("bound to %v", got)
			}
			s.leave("a")
			if got := s.bind("s", "a"); got.GetIsConnected() || got.GetInfo().GetNodeName() != "name of a" || got.GetStatus() != saysItsOff {
				s.Errorf("bound to %v", got)
			}
		},
	}
	registrytest.Each(t, func(t *testing.T, url string) {
		r := start(t, servers{redis: url, nats: testkit.NATS(t)}, nil)
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(&sessions{T: t, replica: r, user: testkit.Prefix(t), epochs: map[string]int64{}})
			})
		}
	})
}

// Two replicas decide for one session at the same moment: one prefers a, the other b.
func TestOneSessionOneNode(t *testing.T) {
	t.Parallel()
	pods := replicas(t, own(t), 2, nil)
	pods[0].register(t, "ana", "a")
	pods[0].register(t, "ana", "b")
	for i := range 50 {
		var wg sync.WaitGroup
		var got [2]*nodev1.ResolveNodeResponse
		for j, pod := range pods {
			wg.Go(func() {
				var err error
				got[j], err = pod.ResolveNode(t.Context(), &nodev1.ResolveNodeRequest{
					UserId: "ana", SessionId: numbered("s", i), PreferredNodeId: []string{"a", "b"}[j],
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got[0].GetNodeId() != got[1].GetNodeId() || !got[0].GetBound() || !got[1].GetBound() {
			t.Fatalf("one session, two answers: %v and %v", got[0], got[1])
		}
	}
}
