package names

import (
	"context"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Owner is the tool of a device that a name means. Without a node, a long name means the tool of a service with the key Tool
// ([Book.Services]), and a short name is nobody's for ever.
type Owner struct {
	Node ids.NodeID
	Tool string
}

// Binding is a name and whom it belongs to, for ever.
type Binding struct {
	Name string
	Owner
}

// Keeper keeps bindings (the orchestrators).
type Keeper interface {
	// ClaimNames binds the names that are free, and returns the bindings that hold of all that were given.
	ClaimNames(ctx context.Context, user ids.UserID, claims []Binding) ([]Binding, error)
	// ListNames returns all bindings of a user.
	ListNames(ctx context.Context, user ids.UserID) ([]Binding, error)
}

const (
	// maxUsers bounds the users whose bindings are remembered.
	maxUsers = 10_000
	// askLimit is how long a question to the keeper may take: tools have long names without it.
	askLimit = 2 * time.Second
	// pause is how long a keeper that failed is not asked again.
	pause = time.Second
	// sated is how long no more names are claimed for a user who has as many as there may be: each claim reads them all.
	sated = time.Minute
)

// Book remembers bindings. What it remembers is never wrong, since bindings do not change. It is safe for concurrent use.
type Book struct {
	keeper Keeper // nil for none

	mu     sync.Mutex
	users  map[ids.UserID]map[string]Owner
	full   map[ids.UserID]time.Time // since when users get no more names
	failed time.Time
}

// NewBook returns an empty Book; without a keeper it gives no short names.
func NewBook(k Keeper) *Book {
	return &Book{keeper: k, users: make(map[ids.UserID]map[string]Owner), full: make(map[ids.UserID]time.Time)}
}

// Owner returns whom a name belongs to, as far as it is remembered.
func (b *Book) Owner(user ids.UserID, name string) (Owner, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.users[user][name]
	return o, o.Node != ""
}

// Ask is Owner for a name that is not remembered: another pod may have bound it.
func (b *Book) Ask(ctx context.Context, user ids.UserID, name string) (Owner, bool) {
	if b.asks() {
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		list, err := b.keeper.ListNames(ctx, user)
		b.remember(user, list, err)
	}
	return b.Owner(user, name)
}

// Names returns the name under which each of a user's tools is listed: its short one, where that is bound to it, else its long one.
// offers are all the tools of all devices that are connected.
func (b *Book) Names(ctx context.Context, user ids.UserID, offers []Owner) []string {
	listed, claims := b.listed(user, offers)
	if len(claims) == 0 || !b.claims(user) {
		return listed
	}
	b.claim(ctx, user, claims)
	listed, _ = b.listed(user, offers)
	return listed
}

// Known returns how many bindings of a user are remembered. While it stays the same, so do the names of tools that are [Book.Settled].
func (b *Book) Known(user ids.UserID) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.users[user])
}

// Settled reports whether the names of tools are what they will be, with the bindings that are remembered now, whose number it returns:
// nothing is left to be claimed for them.
func (b *Book) Settled(user ids.UserID, offers []Owner) (known int, settled bool) {
	_, claims := b.listed(user, offers)
	b.mu.Lock()
	defer b.mu.Unlock()
	_, full := b.full[user]
	return len(b.users[user]), len(claims) == 0 || full || b.keeper == nil
}

// claim asks the keeper for names.
func (b *Book) claim(ctx context.Context, user ids.UserID, claims []Binding) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	held, err := b.keeper.ClaimNames(ctx, user, claims)
	b.remember(user, held, err)
	if err == nil && len(held) < len(claims) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.full) >= maxUsers {
			clear(b.full)
		}
		b.full[user] = time.Now()
	}
}

// claims reports whether names are to be claimed for a user now.
func (b *Book) claims(user ids.UserID) bool {
	if !b.asks() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	since, full := b.full[user]
	if full && time.Since(since) > sated {
		delete(b.full, user)
		full = false
	}
	return !full
}

// listed returns the names of offers by what is remembered, and what to claim for them.
func (b *Book) listed(user ids.UserID, offers []Owner) (names []string, claims []Binding) {
	have := make(map[string]int, len(offers)) // devices that have a tool of that name
	for _, o := range offers {
		have[o.Tool]++
	}
	asked := make(map[string]int)
	names = make([]string, len(offers))
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.users[user]
	for i, o := range offers {
		names[i] = Long(o.Node, o.Tool)
		if holder, ok := known[names[i]]; ok && holder != o { // a service was first
			names[i] = second(o.Node, o.Tool)
		}
		if _, ok := known[names[i]]; !ok {
			claims = append(claims, Binding{names[i], o})
		}
		if !Short(o.Tool) {
			continue
		}
		owner, bound := known[o.Tool]
		switch {
		case owner == o:
			names[i] = o.Tool
		case bound:
		case have[o.Tool] == 1:
			claims = append(claims, Binding{o.Tool, o})
		case asked[o.Tool] == 0:
			asked[o.Tool]++
			claims = append(claims, Binding{o.Tool, Owner{Tool: o.Tool}})
		}
	}
	return names, claims
}

// asks reports whether the keeper is to be asked now.
func (b *Book) asks() bool {
	if b.keeper == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.failed) > pause
}

func (b *Book) remember(user ids.UserID, list []Binding, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.failed = time.Now()
		return
	}
	known := b.users[user]
	if known == nil {
		b.forget()
		known = make(map[string]Owner, len(list))
		b.users[user] = known
	}
	for _, l := range list {
		known[l.Name] = l.Owner
	}
}

// forget makes room for one user. It is called with mu held.
func (b *Book) forget() {
	for user := range b.users {
		if len(b.users) < maxUsers {
			return
		}
		delete(b.users, user)
	}
}
