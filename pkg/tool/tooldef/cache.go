package tooldef

import (
	"context"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// cacheBytes bounds what a [Cache] keeps, in bytes of packed definitions and of what they are unpacked.
const cacheBytes = 32 << 20

// Fetch asks for a user's set by its digest; the set is empty where there is none any more.
type Fetch func(ctx context.Context, user ids.UserID, digest string) (packed []byte, err error)

// Cache keeps the definitions that were asked for last. A digest stands for the same definitions for every user, so users with the
// same kind of node share them. It is safe for concurrent use.
type Cache struct {
	fetch Fetch

	mu    sync.Mutex
	sets  *simplelru.LRU[string, cached]
	bytes int
}

type cached struct {
	packed []byte
	byName map[string]Definition
	bytes  int
}

// NewCache returns an empty cache.
func NewCache(fetch Fetch) *Cache {
	c := &Cache{fetch: fetch}
	// By the number of smallest sets, which only bounds the list; bytes bound what is in it.
	c.sets, _ = simplelru.NewLRU(cacheBytes/1024, func(_ string, v cached) { c.bytes -= v.bytes })
	return c
}

// Offered returns a definition of each tool that a user's node offers, in the node's order: the one that it gave, or a made one. The
// error says that what the node gave cannot be asked for now; then all are made.
func (c *Cache) Offered(ctx context.Context, user ids.UserID, node *nodev1.NodeInfo) ([]Definition, error) {
	given, err := c.Given(ctx, user, node)
	var defs []Definition
	for _, name := range node.GetAvailableTools() {
		d, ok := given[name]
		switch {
		case ok:
			defs = append(defs, d)
		case toolname.Check(name) == nil: // an older registry may have others
			defs = append(defs, Made(name, node))
		}
	}
	return defs, err
}

// Given returns the definitions that a user's node gave, by name; not to be changed.
func (c *Cache) Given(ctx context.Context, user ids.UserID, node *nodev1.NodeInfo) (map[string]Definition, error) {
	set, err := c.get(ctx, user, node.GetToolsDigest())
	return set.byName, err
}

// Packed returns a user's set by its digest as [Unpack] reads it; empty where there is none any more.
func (c *Cache) Packed(ctx context.Context, user ids.UserID, digest string) ([]byte, error) {
	set, err := c.get(ctx, user, digest)
	return set.packed, err
}

func (c *Cache) get(ctx context.Context, user ids.UserID, digest string) (cached, error) {
	if digest == "" {
		return cached{}, nil
	}
	c.mu.Lock()
	set, ok := c.sets.Get(digest)
	c.mu.Unlock()
	if ok {
		return set, nil
	}
	packed, err := c.fetch(ctx, user, digest)
	if err != nil || len(packed) == 0 {
		return cached{}, err
	}
	defs, err := Unpack(packed, digest)
	if err != nil {
		return cached{}, err
	}
	set = cached{packed: packed, byName: make(map[string]Definition, len(defs)), bytes: 2 * len(packed)}
	for _, d := range defs {
		set.byName[d.Name] = d
		set.bytes += len(d.InputSchema) + len(d.OutputSchema) + len(d.Description) + 512
	}
	c.keep(digest, set)
	return set, nil
}

func (c *Cache) keep(digest string, set cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets.Contains(digest) {
		return // another asked for it, too
	}
	c.bytes += set.bytes
	c.sets.Add(digest, set)
	for c.bytes > cacheBytes {
		c.sets.RemoveOldest()
	}
}
