package memory

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Keeper keeps the items of all users. It is safe for concurrent use.
type Keeper struct{ store *store.Store }

// NewKeeper returns a Keeper.
func NewKeeper(s *store.Store) *Keeper { return &Keeper{s} }

// List returns all items of a user, the last changed first.
func (k *Keeper) List(ctx context.Context, user ids.UserID) ([]Item, error) {
	return k.store.Memories(ctx, user)
}

// Save remembers an item, or brings the one up to date that says the same in its scope, and returns what is kept. Errors:
// MEMORY_INVALID, LIMIT_REACHED.
func (k *Keeper) Save(ctx context.Context, user ids.UserID, m Item) (Item, error) {
	m, err := check(m)
	if err != nil {
		return m, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	m.ID = "mem_" + hex.EncodeToString(id[:])
	if err := k.store.SaveMemory(ctx, user, m); err != nil {
		return m, err
	}
	return k.find(ctx, user, func(kept *Item) bool {
		return kept.Sum == m.Sum && kept.Scope == m.Scope && kept.Project == m.Project && kept.Session == m.Session
	}, m.ID)
}

// Get returns one item. Errors: MEMORY_NOT_FOUND.
func (k *Keeper) Get(ctx context.Context, user ids.UserID, id string) (Item, error) {
	return k.find(ctx, user, func(m *Item) bool { return m.ID == id }, id)
}

func (k *Keeper) find(ctx context.Context, user ids.UserID, is func(*Item) bool, id string) (Item, error) {
	items, err := k.store.Memories(ctx, user)
	for i := range items {
		if is(&items[i]) {
			return items[i], nil
		}
	}
	if err == nil {
		err = notFound(id)
	}
	return Item{}, err
}

// Change replaces what is not nil. Errors: MEMORY_NOT_FOUND, MEMORY_INVALID, MEMORY_EXISTS.
func (k *Keeper) Change(ctx context.Context, user ids.UserID, id string, content, kind *string) (Item, error) {
	m, err := k.Get(ctx, user, id)
	if err != nil {
		return m, err
	}
	if content != nil {
		m.Content = *content
	}
	if kind != nil {
		m.Type = *kind
	}
	if m, err = checkText(m); err != nil {
		return m, err
	}
	if err := k.store.ChangeMemory(ctx, user, m); err != nil {
		return m, err
	}
	return k.Get(ctx, user, id)
}

// Delete forgets one item. Errors: MEMORY_NOT_FOUND.
func (k *Keeper) Delete(ctx context.Context, user ids.UserID, id string) error {
	return k.store.DeleteMemory(ctx, user, id)
}

// Forget forgets a scope, or one project or session in it, and returns how many items that were.
func (k *Keeper) Forget(ctx context.Context, user ids.UserID, scope, project, session string) (int, error) {
	return k.store.ForgetMemories(ctx, user, scope, project, session)
}
