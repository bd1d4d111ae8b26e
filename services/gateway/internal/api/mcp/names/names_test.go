package names_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestLong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ node, tool, want string }{
		{"n1", "click", "n1__click"},
		{"550e8400-e29b-41d4-a716-446655440000", "browser_click", "550e8400-e29b-41d4-a716-446655440000__browser_click"},
		{"n1", "größe", "n1__gr_e__"},
		{"n1_", "click", "n1__click__"},
		{"n1", "_click", "n1__click__"},
		{"日本", "日本", "x__x__"},
		{strings.Repeat("n", 40), strings.Repeat("t", 40), strings.Repeat("n", 24) + "__" + strings.Repeat("t", 20) + "__"},
	} {
		got := names.Long(ids.NodeID(tt.node), tt.tool)
		if hashed := strings.HasSuffix(tt.want, "__"); !hashed && got != tt.want || hashed && (!strings.HasPrefix(got, tt.want) || len(got) != len(tt.want)+12) {
			t.Errorf("%s of %s: %s, want %s", tt.tool, tt.node, got, tt.want)
		}
	}
}

var valid = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,60}$`)

// FuzzNamesNeverMerge: two tools have one name only if they are the same, and no long name is a short one.
func FuzzNamesNeverMerge(f *testing.F) {
	f.Add("a", "b__c", "a__b", "c")
	f.Add("a_", "b", "a", "_b")
	f.Add("a", "b", "a", "b ")
	f.Add("", "", "x", "x")
	f.Fuzz(func(t *testing.T, node, tool, otherNode, otherTool string) {
		one, other := names.Long(ids.NodeID(node), tool), names.Long(ids.NodeID(otherNode), otherTool)
		if !valid.MatchString(one) || names.Short(one) {
			t.Errorf("%q of %q is %q", tool, node, one)
		}
		if one == other && (node != otherNode || tool != otherTool) {
			t.Errorf("%q of %q and %q of %q are both %q", tool, node, otherTool, otherNode, one)
		}
		if names.Short(tool) && !valid.MatchString(tool) {
			t.Errorf("%q is a short name", tool)
		}
	})
}

// keeper keeps bindings as the orchestrators do.
type keeper struct {
	mu     sync.Mutex
	owners map[string]names.Owner
	asked  int
	away   bool
}

func (k *keeper) ClaimNames(_ context.Context, _ ids.UserID, claims []names.Binding) (held []names.Binding, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked++; k.away {
		return nil, errors.New("away")
	}
	for _, c := range claims {
		if _, ok := k.owners[c.Name]; !ok {
			k.owners[c.Name] = c.Owner
		}
		held = append(held, names.Binding{Name: c.Name, Owner: k.owners[c.Name]})
	}
	return held, nil
}

func (k *keeper) ListNames(context.Context, ids.UserID) (all []names.Binding, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, o := range k.owners {
		all = append(all, names.Binding{Name: name, Owner: o})
	}
	return all, nil
}

func TestPodsAgreeAndAskOnce(t *testing.T) {
	t.Parallel()
	k := &keeper{owners: map[string]names.Owner{}}
	a, b := names.NewBook(k), names.NewBook(k)
	one, two := names.Owner{Node: "n1", Tool: "click"}, names.Owner{Node: "n2", Tool: "click"}
	check := func(book *names.Book, want []string, offers ...names.Owner) {
		t.Helper()
		if got := book.Names(t.Context(), "ana", offers); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	check(a, []string{"click"}, one)
	for range 3 {
		check(b, []string{"click", "n2__click"}, one, two)
		check(a, []string{"n2__click"}, two)
		check(a, []string{"click", "n2__click"}, one, two)
	}
	if k.asked != 3 { // of each name once, by each pod
		t.Errorf("asked %d times", k.asked)
	}
	together := names.Owner{Node: "n1", Tool: "type"}
	check(a, []string{"n1__type", "n2__type"}, together, names.Owner{Node: "n2", Tool: "type"})
	check(b, []string{"n1__type"}, together)
	if o, ok := a.Owner("ana", "type"); ok {
		t.Errorf("type belongs to %v", o)
	}
	if o, ok := b.Owner("eve", "click"); ok {
		t.Errorf("another user's click belongs to %v", o)
	}
	k.away = true
	check(names.NewBook(k), []string{"n3__click"}, names.Owner{Node: "n3", Tool: "click"})
	check(names.NewBook(nil), []string{"n1__click"}, one)
}

// A service and a device that would have one name: who was first has it, and the other has one of its own.
func TestServicesAndDevicesShareNoName(t *testing.T) {
	t.Parallel()
	k := &keeper{owners: map[string]names.Owner{}}
	a, b := names.NewBook(k), names.NewBook(k)
	service := func(server, tool string) names.Service {
		return names.Service{Server: server, Tool: tool, Key: "mcp__" + server + "__" + tool}
	}
	device := func(node ids.NodeID, tool string) []names.Owner {
		return []names.Owner{{Node: node, Tool: tool}, {Node: "other", Tool: tool}}
	}
	if got := a.Services(t.Context(), "ana", []names.Service{service("n1", "find")}); !slices.Equal(got, []string{"n1__find"}) {
		t.Errorf("%v", got)
	}
	a.Names(t.Context(), "ana", device("n2", "find"))
	for _, book := range []*names.Book{a, b} {
		node := book.Names(t.Context(), "ana", device("n1", "find"))[0]
		served := book.Services(t.Context(), "ana", []names.Service{service("n1", "find"), service("n2", "find")})
		if !valid.MatchString(node) || !strings.HasPrefix(node, "n1__find__") || served[0] != "n1__find" || !strings.HasPrefix(served[1], "n2__find__") {
			t.Errorf("%s, %v", node, served)
		}
		for i, name := range served {
			if key, ok := book.Service("ana", name); !ok || key != service("n"+string(rune('1'+i)), "find").Key {
				t.Errorf("%s means %s", name, key)
			}
			if o, ok := book.Owner("ana", name); ok {
				t.Errorf("%s belongs to %v", name, o)
			}
		}
		if key, ok := book.Service("ana", "find"); ok {
			t.Errorf("a short name means %s", key)
		}
	}
	if got := names.NewBook(nil).Services(t.Context(), "ana", []names.Service{service("n1", "find")}); got[0] != "" {
		t.Errorf("without a keeper: %v", got)
	}
}
