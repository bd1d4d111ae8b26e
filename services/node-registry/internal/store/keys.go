package store

import (
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

const (
	root = "hecaton:"
	// usersKey and gatewaysKey are the two keys that belong to no user; no script has one of them beside another key.
	usersKey    = root + "users"
	gatewaysKey = root + "gateways"
)

// userKeys is the start of one user's keys, the hash tag included. Ids are never empty ([ids.Check]), so the tag is
// none either: Redis would not take {} for one.
type userKeys string

func keysOf(user ids.UserID) userKeys { return userKeys(root + "{" + bus.Token(string(user)) + "}:") }

func (k userKeys) nodes() string { return string(k) + "nodes" }
func (k userKeys) last() string  { return string(k) + "last" }
func (k userKeys) gone() string  { return string(k) + "gone" }
func (k userKeys) use() string   { return string(k) + "use" }
func (k userKeys) tools() string { return string(k) + "tools" }

func (k userKeys) node(id ids.NodeID) string  { return string(k) + "node:" + bus.Token(string(id)) }
func (k userKeys) epoch(id ids.NodeID) string { return string(k) + "epoch:" + bus.Token(string(id)) }
func (k userKeys) session(id ids.SessionID) string {
	return string(k) + "session:" + bus.Token(string(id))
}

func gatewayKey(id ids.GatewayID) string { return root + "gateway:" + bus.Token(string(id)) }

func heldKey(id ids.GatewayID) string { return gatewayKey(id) + ":nodes" }
