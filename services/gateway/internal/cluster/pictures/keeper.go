package pictures

import (
	"bytes"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

const (
	// MaxPicture is the size of the largest picture that is kept, in bytes of base64.
	MaxPicture = 8 << 20
	// maxKept bounds the pictures of a pod, and lifetime how long one is shown.
	maxKept  = 64 << 20
	lifetime = time.Hour
)

// Picture is what a node showed.
type Picture struct {
	// Data is base64 as the node wrote it inside a JSON string.
	Data []byte
	// Type is its media type.
	Type string
	// At is when the node answered with it.
	At time.Time
}

// Keeper is safe for concurrent use. A nil Keeper keeps nothing.
type Keeper struct {
	// Static after construction.
	hub   *hub.Hub
	bus   *bus.Conn
	log   *slog.Logger
	asked *nats.Subscription

	mu     sync.Mutex
	kept   map[*hub.Node]Picture // guarded by mu, as all below; its Data are never changed
	size   int
	closed bool
	users  map[ids.UserID]*followed
}

// New returns a Keeper that serves other pods until Close.
func New(h *hub.Hub, b *bus.Conn, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{hub: h, bus: b, log: log, kept: map[*hub.Node]Picture{}, users: map[ids.UserID]*followed{}}
	var err error
	k.asked, err = b.Subscribe(bus.AllTopics(askKind), k.answer)
	return k, err
}

// Close stops serving.
func (k *Keeper) Close() {
	_ = k.asked.Unsubscribe() // fails where the connection is closed, and the subscription with it
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for user := range k.users {
		k.drop(user)
	}
}

// Note looks for a picture in an answer of a node, and keeps it. The answer stays the caller's.
func (k *Keeper) Note(n *hub.Node, answer *frame.Buffer) {
	if k == nil {
		return
	}
	picture, kind := find(answer.Bytes())
	if len(picture) == 0 || len(picture) > MaxPicture {
		return
	}
	if k.put(n, Picture{Data: bytes.Clone(picture), Type: kind, At: time.Now()}) {
		k.tell(n.Key())
	}
}

// put reports whether the node is still here.
func (k *Keeper) put(n *hub.Node, p Picture) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hub.Find(n.Key()) != n { // Forget may have been called before
		return false
	}
	k.size += len(p.Data) - len(k.kept[n].Data)
	k.kept[n] = p
	for k.size > maxKept {
		k.forget(k.oldest())
	}
	return true
}

// oldest is called with mu held, and a picture kept.
func (k *Keeper) oldest() (oldest *hub.Node) {
	for n, p := range k.kept {
		if oldest == nil || p.At.Before(k.kept[oldest].At) {
			oldest = n
		}
	}
	return oldest
}

// Forget drops the picture of a node that has left the hub.
func (k *Keeper) Forget(n *hub.Node) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(n)
}

// forget is called with mu held.
func (k *Keeper) forget(n *hub.Node) {
	k.size -= len(k.kept[n].Data)
	delete(k.kept, n)
}

// here returns the picture of a node of this pod; held is false where another pod may have the node.
func (k *Keeper) here(key ids.Node) (p Picture, held bool) {
	n := k.hub.Find(key)
	if n == nil {
		return p, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p = k.kept[n]; time.Since(p.At) > lifetime {
		k.forget(n)
		return Picture{}, true
	}
	return p, true
}
