package workspace

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Of any two users neither's prefix begins with the other's; of any two paths the keys differ, also where cases fold.
func FuzzKeys(f *testing.F) {
	f.Add("ana", "Ana", "a/b.tmp", "a/b.tmp=")
	f.Add(strings.Repeat("x", 200), strings.Repeat("x", 256), strings.Repeat("n", 255), strings.Repeat("n", 200)+"+=/"+strings.Repeat("n", 55))
	f.Add("..", "../..", "a+=", "a+=/=")
	f.Fuzz(func(t *testing.T, userA, userB, pathA, pathB string) {
		if ids.Check("", userA) == nil && ids.Check("", userB) == nil && userA != userB {
			a, b := home(ids.UserID(userA), main), home(ids.UserID(userB), main)
			if strings.HasPrefix(strings.ToLower(a), strings.ToLower(b)) || strings.Contains(a, "..") || strings.Contains(a, "//") {
				t.Errorf("%q has %q, %q has %q", userA, a, userB, b)
			}
		}
		if CheckPath(pathA) != nil {
			return
		}
		key := encode(pathA)
		if got, ok := decode(key); !ok || got != pathA {
			t.Errorf("%q became %q and then %q, %v", pathA, key, got, ok)
		}
		for name := range strings.SplitSeq(key, "/") {
			if len(name) > maxPiece+2 || name == "" || name == ".." || name == "." || strings.HasSuffix(name, ".attrs") {
				t.Errorf("%q has the name %q in its key", pathA, name)
			}
		}
		if CheckPath(pathB) == nil && pathA != pathB && encode(pathB) == key {
			t.Errorf("%q and %q are both %q", pathA, pathB, key)
		}
		for i := range pathA {
			if prefix := pathA[:i]; checkPrefix(prefix) == nil && !strings.HasPrefix(key, encodePrefix(prefix)) {
				t.Errorf("%q, %q, is not under %q", pathA, key, encodePrefix(prefix))
			}
		}
	})
}
