package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

const (
	// cacheFor is how long an entry lives (docs/protocols/zeus-agents.md#workspace).
	cacheFor = 5 * time.Minute
	// maxCached is the largest entry, in bytes.
	maxCached = 256 << 10
	// generationFor outlives every entry.
	generationFor = 24 * time.Hour
	// patience is how long a request waits for Redis; pause is how long Redis is not asked again after it failed.
	patience = 250 * time.Millisecond
	pause    = time.Second
)

// cache keeps entries in Redis. Their names contain the user's generation, a random value: a new generation makes every pod
// forget all entries of the user.
type cache struct {
	// Static after construction.
	redis redis.UniversalClient // nil for no cache
	log   *slog.Logger

	failed atomic.Int64 // when Redis failed last, in ns
}

func newCache(client redis.UniversalClient, log *slog.Logger) *cache {
	return &cache{redis: client, log: log}
}

func cacheKey(user ids.UserID, rest string) string {
	return "hecaton:{" + bus.Token(string(user)) + "}:workspace:" + rest
}

func listName(prefix string, limit int, cursor string) string {
	return fmt.Sprintf("list:%d:%s:%s", limit, bus.Token(prefix), bus.Token(cursor))
}

// slot is the place of one entry; with key "" nothing is cached.
type slot struct {
	cache *cache
	key   string
	raw   []byte // nil if there is no entry
}

// slot looks an entry up. The generation is read before the caller reads the storage, so that what is cached under it is
// never older than the generation.
func (c *cache) slot(ctx context.Context, user ids.UserID, name string) slot {
	none := slot{cache: c}
	if c.redis == nil || time.Since(time.Unix(0, c.failed.Load())) < pause {
		return none
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	generation, err := c.generation(ctx, user)
	if err != nil {
		c.away(ctx, err)
		return none
	}
	key := cacheKey(user, generation+":"+name)
	raw, err := c.redis.Get(ctx, key).Bytes()
	if err != nil && !errors.Is(err, redis.Nil) {
		c.away(ctx, err)
		return none
	}
	return slot{cache: c, key: key, raw: raw}
}

func (c *cache) generation(ctx context.Context, user ids.UserID) (string, error) {
	key := cacheKey(user, "generation")
	generation, err := c.redis.Get(ctx, key).Result()
	if !errors.Is(err, redis.Nil) {
		return generation, err
	}
	if err := c.redis.SetNX(ctx, key, rand.Text(), generationFor).Err(); err != nil {
		return "", err
	}
	return c.redis.Get(ctx, key).Result()
}

// forget makes all pods forget what is cached of a user's files.
func (c *cache) forget(ctx context.Context, user ids.UserID) {
	if c.redis == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.redis.Set(ctx, cacheKey(user, "generation"), rand.Text(), generationFor).Err(); err != nil {
		c.away(ctx, err)
	}
}

func (c *cache) away(ctx context.Context, err error) {
	before := c.failed.Swap(time.Now().UnixNano())
	if time.Since(time.Unix(0, before)) > time.Minute {
		c.log.WarnContext(ctx, "files are not cached: Redis is not available", "error", err)
	}
}

func (s slot) keep(ctx context.Context, raw []byte) {
	if s.key == "" || len(raw) > maxCached {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.cache.redis.Set(ctx, s.key, raw, cacheFor).Err(); err != nil {
		s.cache.away(ctx, err)
	}
}

func (s slot) page() (page Page, ok bool) {
	return page, s.raw != nil && json.Unmarshal(s.raw, &page) == nil
}

func (s slot) keepPage(ctx context.Context, page Page) {
	if raw, err := json.Marshal(page); err == nil {
		s.keep(ctx, raw)
	}
}

// file decodes the entry of a file: a line of JSON, then the file's bytes.
func (s slot) file() (file File, data []byte, ok bool) {
	head, data, found := bytes.Cut(s.raw, []byte("\n"))
	ok = found && json.Unmarshal(head, &file) == nil && file.Size == int64(len(data))
	return file, data, ok
}

func (s slot) keepFile(ctx context.Context, file File, data []byte) {
	if s.key == "" || len(data) > maxCached {
		return
	}
	if head, err := json.Marshal(file); err == nil {
		s.keep(ctx, append(append(head, '\n'), data...))
	}
}
