package devices

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// shelf remembers how the tools of users' devices are listed. The registry is asked for each list, so that a device that has come, gone
// or changed anywhere is in it; where it says what it said before, the tools need not be made again. It is safe for concurrent use.
type shelf struct {
	seed maphash.Seed

	mu    sync.Mutex
	users map[ids.UserID]shelved
	bytes int
}

// shelved are a user's tools, which nobody changes.
type shelved struct {
	print uint64 // of the devices
	known int    // how many names the user had
	tools []catalogue.Tool
	bytes int
}

const (
	// maxShelf bounds what is remembered, and maxShelved what is of one user, in bytes.
	maxShelf, maxShelved = 32 << 20, 1 << 20
	// toolBytes is what a tool takes beside its definition.
	toolBytes = 512
)

func newShelf() *shelf { return &shelf{seed: maphash.MakeSeed(), users: make(map[ids.UserID]shelved)} }

// print tells devices that are as they were from others. How busy they are does not matter. A user who made two that are alike would see
// an old list of their own.
func (s *shelf) print(nodes []*nodev1.Node) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	var raw []byte
	for _, n := range nodes {
		raw, _ = proto.MarshalOptions{Deterministic: true}.MarshalAppend(raw[:0], n.GetInfo()) // what was read can be written
		maphash.WriteComparable(&h, len(raw))
		_, _ = h.Write(raw) // never fails
	}
	return h.Sum64()
}

// get returns the tools of a user whose devices and names are these; nil where they have to be made.
func (s *shelf) get(user ids.UserID, print uint64, known int) []catalogue.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.users[user]; found.print == print && found.known == known {
		return found.tools
	}
	return nil
}

// put remembers tools, and orders them as they are listed.
func (s *shelf) put(user ids.UserID, print uint64, known int, tools []catalogue.Tool) {
	slices.SortFunc(tools, func(a, b catalogue.Tool) int { return strings.Compare(a.Name, b.Name) })
	size := 0
	for i := range tools {
		size += len(tools[i].Definition) + toolBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(user)
	if size > maxShelved {
		return
	}
	for other := range s.users {
		if s.bytes+size <= maxShelf {
			break
		}
		s.drop(other)
	}
	s.users[user] = shelved{print, known, tools, size}
	s.bytes += size
}

// drop is called with mu held.
func (s *shelf) drop(user ids.UserID) {
	s.bytes -= s.users[user].bytes
	delete(s.users, user)
}
