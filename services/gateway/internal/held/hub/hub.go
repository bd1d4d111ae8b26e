package hub

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

const shards = 64

// Hub holds nodes and other clients. It is safe for concurrent use; callbacks run outside its locks.
type Hub struct {
	seed   maphash.Seed
	shards [shards]shard
	// size is how many nodes there were when all were last asked for: room for those who ask next.
	size atomic.Int64
	// clients is how many there are that are no nodes.
	clients atomic.Int64
}

type shard struct {
	mu    sync.RWMutex
	users map[ids.UserID]*user
	// nodes are those of all users, for the pulse, which goes through them every second.
	nodes []*Node
}

// note puts a node on the list of all.
func (s *shard) note(n *Node) {
	n.place = len(s.nodes)
	s.nodes = append(s.nodes, n)
}

// strike takes a node off it.
func (s *shard) strike(n *Node) {
	last := len(s.nodes) - 1
	s.nodes[n.place] = s.nodes[last]
	s.nodes[n.place].place = n.place
	s.nodes[last] = nil
	s.nodes = s.nodes[:last]
}

// user has few nodes, so slices do; nodes are in order of arrival.
type user struct {
	nodes   []*Node
	clients []*Client
}

// New returns an empty hub.
func New() *Hub {
	h := &Hub{seed: maphash.MakeSeed()}
	for i := range h.shards {
		h.shards[i].users = make(map[ids.UserID]*user)
	}
	return h
}

func (h *Hub) shard(u ids.UserID) *shard {
	return &h.shards[maphash.String(h.seed, string(u))%shards]
}

func (s *shard) user(id ids.UserID) *user {
	u := s.users[id]
	if u == nil {
		u = &user{}
		s.users[id] = u
	}
	return u
}

func (s *shard) tidy(id ids.UserID, u *user) {
	if len(u.nodes) == 0 && len(u.clients) == 0 {
		delete(s.users, id)
	}
}

func (u *user) find(id ids.NodeID) int {
	return slices.IndexFunc(u.nodes, func(n *Node) bool { return *n.id.Load() == id })
}

// Add makes a node findable. A node that has the name already leaves, and is returned: here the later arrival is the
// later connection.
func (h *Hub) Add(n *Node) (left *Node) {
	s := h.shard(n.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(n.User)
	left = s.evict(u, n.Key().Node)
	u.nodes = append(u.nodes, n)
	s.note(n)
	return left
}

func (s *shard) evict(u *user, name ids.NodeID) *Node {
	i := u.find(name)
	if i < 0 {
		return nil
	}
	left := u.nodes[i]
	u.nodes = slices.Delete(u.nodes, i, i+1)
	s.strike(left)
	return left
}

// Rename gives a node another name, and takes its epoch, which belongs to the old one. It returns the node that had the
// name, and ok = false where n is not here any more.
func (h *Hub) Rename(n *Node, name ids.NodeID) (left *Node, ok bool) {
	s := h.shard(n.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[n.User]
	if u == nil || !slices.Contains(u.nodes, n) {
		return nil, false
	}
	left = s.evict(u, name)
	n.SetEpoch(0)
	n.name(&name)
	return left, true
}

// Remove takes a node out, and reports whether it was still in.
func (h *Hub) Remove(n *Node) bool {
	s := h.shard(n.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[n.User]
	if u == nil {
		return false
	}
	i := slices.Index(u.nodes, n)
	if i < 0 {
		return false
	}
	u.nodes = slices.Delete(u.nodes, i, i+1)
	s.strike(n)
	s.tidy(n.User, u)
	return true
}

// Find returns the node of that name, or nil.
func (h *Hub) Find(key ids.Node) *Node {
	s := h.shard(key.User)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u := s.users[key.User]; u != nil {
		if i := u.find(key.Node); i >= 0 {
			return u.nodes[i]
		}
	}
	return nil
}

// First returns the user's node that connected here first, of a type where one is given; nil if there is none.
func (h *Hub) First(id ids.UserID, kind nodev1.NodeType) *Node {
	for _, n := range h.Nodes(id) {
		if kind == nodev1.NodeType_NODE_TYPE_UNSPECIFIED || n.Info().GetNodeType() == kind {
			return n
		}
	}
	return nil
}

// Nodes returns the nodes of a user, in order of arrival.
func (h *Hub) Nodes(id ids.UserID) []*Node {
	s := h.shard(id)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u := s.users[id]; u != nil {
		return slices.Clone(u.nodes)
	}
	return nil
}

// AddClient adds a client that is no node.
func (h *Hub) AddClient(c *Client) {
	s := h.shard(c.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(c.User)
	u.clients = append(u.clients, c)
	h.clients.Add(1)
}

// RemoveClient takes a client out.
func (h *Hub) RemoveClient(c *Client) {
	s := h.shard(c.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[c.User]
	if u == nil {
		return
	}
	if i := slices.Index(u.clients, c); i >= 0 {
		u.clients = slices.Delete(u.clients, i, i+1)
		h.clients.Add(-1)
	}
	s.tidy(c.User, u)
}

// All returns every node of the pod, and every client that is no node.
func (h *Hub) All() (nodes []*Node, clients []*Client) {
	last := h.size.Load()
	nodes = make([]*Node, 0, last+last/8) // growing would copy all twice over
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.RLock()
		nodes = append(nodes, s.nodes...)
		s.mu.RUnlock()
	}
	h.size.Store(int64(len(nodes)))
	return nodes, h.Clients()
}

// Clients returns every client that is no node.
func (h *Hub) Clients() (clients []*Client) {
	if h.clients.Load() == 0 {
		return nil
	}
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.RLock()
		for _, u := range s.users {
			clients = append(clients, u.clients...)
		}
		s.mu.RUnlock()
	}
	return clients
}

// DueVitals returns the nodes that the pulse has to look after now.
func (h *Hub) DueVitals(now time.Time) []*Node {
	return h.due(now, func(n *Node) *turn { return &n.vitals })
}

// DueBeats returns the nodes of which the registry may have to be told now.
func (h *Hub) DueBeats(now time.Time) []*Node {
	return h.due(now, func(n *Node) *turn { return &n.tell })
}

func (h *Hub) due(now time.Time, of func(*Node) *turn) (due []*Node) {
	t := now.UnixNano()
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.RLock()
		for _, n := range s.nodes {
			if of(n).due(t) {
				due = append(due, n)
			}
		}
		s.mu.RUnlock()
	}
	return due
}

// Backlog is what waits in a pod.
type Backlog struct {
	// WaitingCalls wait for a place at their node.
	WaitingCalls int
	// QueuedBytes wait to be written to clients.
	QueuedBytes int
	// Unregistered nodes are held, and the registry does not know of them.
	Unregistered int
}

// Backlog adds up what waits in the pod.
func (h *Hub) Backlog() Backlog {
	nodes, clients := h.All()
	var b Backlog
	for _, n := range nodes {
		b.WaitingCalls += n.Calls.Waiting()
		b.QueuedBytes += n.Conn.Queued()
		if n.Unregistered.Load() {
			b.Unregistered++
		}
	}
	for _, c := range clients {
		b.QueuedBytes += c.Conn.Queued()
	}
	return b
}

// Connections counts the open connections by kind of client.
func (h *Hub) Connections() map[string]int {
	nodes, clients := h.All()
	open := make(map[string]int)
	for _, n := range nodes {
		open[n.Kind]++
	}
	for _, c := range clients {
		open[c.Kind]++
	}
	return open
}

// Counts are the connection statistics of one pod (docs/protocols/nodes-rest.md#statistics): nodes by type, and all other
// clients.
func (h *Hub) Counts() *nodev1.GatewayStats {
	st := &nodev1.GatewayStats{WebConnections: int32(h.clients.Load())}
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.RLock()
		for _, n := range s.nodes {
			if n.desktop {
				st.DesktopConnections++
			} else {
				st.ExtensionConnections++
			}
			if n.active.Load() {
				st.PendingRequests += int32(n.Calls.Open())
			}
		}
		s.mu.RUnlock()
	}
	return st
}
