package names

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Service is a tool of a service of the user's, which runs on no device.
type Service struct {
	// Server is the name of the service, and Tool what it calls the tool.
	Server, Tool string
	// Key names the tool for good.
	Key string
}

// candidates are the names that the tool may have: the long name that a device with the id Server would have for it, else one that no
// device can have.
func (s Service) candidates() [2]string {
	return [2]string{Long(ids.NodeID(s.Server), s.Tool), hashed(s.Server, s.Tool, "\x00"+s.Key)} // no node's id is empty
}

// Services returns the name of each tool of a user's services. It is bound like a device's, by the same keeper, so it comes to mean
// neither a device's tool nor another service's; "" for a tool that cannot be given a name now.
func (b *Book) Services(ctx context.Context, user ids.UserID, tools []Service) []string {
	for range (Service{}).candidates() {
		given, claims := b.services(user, tools)
		if len(claims) == 0 || !b.claims(user) {
			return given
		}
		b.claim(ctx, user, claims)
	}
	given, _ := b.services(user, tools)
	return given
}

// services returns the names of tools by what is remembered, and what to claim for them.
func (b *Book) services(user ids.UserID, tools []Service) (given []string, claims []Binding) {
	given = make([]string, len(tools))
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.users[user]
	for i, t := range tools {
		for _, name := range t.candidates() {
			holder, bound := known[name]
			if !bound {
				claims = append(claims, Binding{name, Owner{Tool: t.Key}})
				break
			}
			if holder == (Owner{Tool: t.Key}) {
				given[i] = name
				break
			}
		}
	}
	return given, claims
}

// Service returns the key of the service's tool that a name belongs to, as far as it is remembered.
func (b *Book) Service(user ids.UserID, name string) (key string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, bound := b.users[user][name]
	return o.Tool, bound && o.Node == "" && IsLong(name)
}
