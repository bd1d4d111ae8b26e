package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// parseKey is the inverse of the keys that have an id: proof that no two ids share one.
func parseKey(key string) (user, kind, id string, err error) {
	rest, ok := strings.CutPrefix(key, "hecaton:{")
	tag, rest, ok2 := strings.Cut(rest, "}:")
	kind, token, ok3 := strings.Cut(rest, ":")
	if !ok || !ok2 || !ok3 {
		return "", "", "", errors.New("not a key of a user")
	}
	user, err = bus.Untoken(tag)
	if err != nil {
		return "", "", "", err
	}
	id, err = bus.Untoken(token)
	return user, kind, id, err
}

// hashTag is how Redis Cluster finds the part of a key that decides its slot.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	tag, _, ok2 := strings.Cut(rest, "}")
	if !ok || !ok2 || tag == "" {
		return key
	}
	return tag
}

func FuzzKeys(f *testing.F) {
	for _, id := range []string{"u", "}", "{", "{}", "a}:node:b", "a:b", "*", ">", ".", "../..", "ü 漢", "=7d", "%", strings.Repeat("}", 256)} {
		f.Add(id, "n", "u2", "n2")
		f.Add("u", id, id, "n2")
	}
	f.Fuzz(func(t *testing.T, user, id, user2, id2 string) {
		if user == "" || user2 == "" {
			return // ids.Check lets no empty id through
		}
		keys, keys2 := keysOf(ids.UserID(user)), keysOf(ids.UserID(user2))
		key := keys.node(ids.NodeID(id))
		gotUser, kind, gotID, err := parseKey(key)
		if err != nil || gotUser != user || kind != "node" || gotID != id {
			t.Fatalf("%q of %q has key %q, which reads as %q %q %q %v", id, user, key, gotUser, kind, gotID, err)
		}
		all := []string{keys.nodes(), keys.last(), keys.gone(), key, keys.epoch(ids.NodeID(id)), keys.session(ids.SessionID(id))}
		for _, k := range all {
			if hashTag(k) != bus.Token(user) {
				t.Errorf("key %q of %q has the tag %q", k, user, hashTag(k))
			}
		}
		others := []string{keys2.nodes(), keys2.last(), keys2.gone(), keys2.node(ids.NodeID(id2)), keys2.epoch(ids.NodeID(id2)),
			keys2.session(ids.SessionID(id2)), usersKey, gatewaysKey, gatewayKey(ids.GatewayID(id2))}
		for i, k := range all {
			for j, other := range others {
				same := user == user2 && i == j && (i < 3 || id == id2)
				if (k == other) != same {
					t.Errorf("%q/%q and %q/%q: keys %q and %q", user, id, user2, id2, k, other)
				}
			}
		}
	})
}
