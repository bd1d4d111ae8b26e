package store_test

import (
	"errors"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// described is a registration of a node with a definition of a tool.
func (f *fixture) described(node, tool string) (r store.Registration, digest string) {
	f.Helper()
	set, digest := tooldef.Pack([]tooldef.Definition{tooldef.Made(tool, &nodev1.NodeInfo{})})
	info, err := store.NewInfo(&nodev1.NodeInfo{NodeId: node, NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP, ToolsDigest: digest})
	if err != nil {
		f.Fatal(err)
	}
	return store.Registration{User: "ana", Gateway: "gw-1", Info: info, Tools: set.Packed()}, digest
}

func (f *fixture) offer(r store.Registration) store.Registered {
	f.Helper()
	return f.store.Register(f.ctx, []store.Registration{r})[0]
}

func (f *fixture) wantTools(user, digest string, there bool) {
	f.Helper()
	got, err := f.store.Tools(f.ctx, ids.UserID(user), digest)
	if !there && errors.Is(err, store.ErrNoTools) {
		return
	}
	if _, unpacked := tooldef.Unpack(got, digest); err != nil || !there || unpacked != nil {
		f.Errorf("%s has %d bytes at %s, %v, want them %t", user, len(got), digest, err, there)
	}
}

// Definitions are asked for where the store does not have them, and forgotten with the last node that has them.
func testTools(f *fixture) {
	wanted := nodev1.RegisterResult_OUTCOME_TOOLS_WANTED
	r, digest := f.described("desk", "brew")
	bare := r
	bare.Tools = nil
	f.wantRegistered(f.offer(bare), wanted, silent)
	if n := f.nodes(f.store, "ana"); len(n) != 0 {
		f.Errorf("a node that has to come again is listed: %v", n)
	}
	first := f.offer(r)
	f.wantRegistered(first, registered, online)
	f.wantTools("ana", digest, true)
	f.wantTools("bob", digest, false)
	if got := f.nodes(f.store, "ana")[0].GetInfo().GetToolsDigest(); got != digest {
		f.Errorf("the node has %q", got)
	}
	// Another node with the same tools need not bring them, nor the same node again.
	other, _ := f.described("laptop", "brew")
	other.Tools = nil
	f.wantRegistered(f.offer(other), registered, online)
	bare.Epoch = first.Epoch
	f.wantRegistered(f.offer(bare), registered, silent)

	changed, second := f.described("desk", "pour")
	changed.Epoch = first.Epoch
	f.wantRegistered(f.offer(changed), registered, updated)
	f.wantTools("ana", digest, true) // the laptop's
	f.wantTools("ana", second, true)
	f.wantRegistered(f.registerAs(f.store, "ana", "laptop", 0), registered, online) // without definitions
	f.wantTools("ana", digest, false)
	f.wantTools("ana", second, true)
	// What a node had is known for as long as the node is.
	f.deregister(f.store, "ana", "desk", first.Epoch)
	f.wantTools("ana", second, true)
	if ttl := f.client.PTTL(f.ctx, "hecaton:{ana}:tools").Val(); ttl <= 23*time.Hour || ttl > 24*time.Hour {
		f.Errorf("the definitions live for %v", ttl)
	}
	for i := range 20 {
		name := numbered("n", i)
		next, _ := f.described(name, numbered("t", i))
		f.deregister(f.store, "ana", name, f.offer(next).Epoch)
	}
	f.wantTools("ana", second, false)
	if n := len(f.client.HKeys(f.ctx, "hecaton:{ana}:tools").Val()); n > 2*18 {
		f.Errorf("%d fields are kept", n)
	}
	// An emptied store asks again.
	last, digest := f.described("desk", "brew")
	last.Tools = nil
	f.wantRegistered(f.offer(last), wanted, silent)
	f.wantTools("ana", digest, false)
}

// A sweep keeps the definitions of nodes that stay for longer than what is known of absent ones is remembered.
func testSweepKeepsTools(f *fixture) {
	r, digest := f.described("desk", "brew")
	f.wantRegistered(f.offer(r), registered, online)
	f.client.PExpire(f.ctx, "hecaton:{ana}:tools", time.Minute)
	f.store.Sweep(f.ctx, []ids.UserID{"ana"})
	if ttl := f.client.PTTL(f.ctx, "hecaton:{ana}:tools").Val(); ttl <= 23*time.Hour {
		f.Errorf("the definitions live for %v", ttl)
	}
	f.wantTools("ana", digest, true)
	if !slices.Contains(allKeys(f), "hecaton:{ana}:tools") {
		f.Errorf("keys %q", allKeys(f))
	}
}
