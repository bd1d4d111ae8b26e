package bus

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

func TestTokensKeepUsersApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	hostile := []string{"a", "a.b", "*", ">", "a b", "ü", "=2e", ".", "..", "../", "a\tb", "%2E", "A", strings.Repeat("漢", 85), "$SYS", "_INBOX.x"}
	for _, user := range hostile {
		for _, node := range hostile {
			p := NodePrefix(ids.Node{User: ids.UserID(user), Node: ids.NodeID(node)})
			if other, ok := seen[p]; ok {
				t.Fatalf("%q/%q and %s share %s", user, node, other, p)
			}
			seen[p] = user + "/" + node
			if strings.Count(p, ".") != 4 || strings.ContainsAny(p, "*> \t") {
				t.Fatalf("%q/%q: subject %q", user, node, p)
			}
		}
	}
}

func FuzzTokenIsReversible(f *testing.F) {
	for _, s := range []string{"abc", "a.b", "=", "=2e", "ü*>", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		token := Token(id)
		if strings.ContainsAny(token, ".*> \t\r\n") {
			t.Fatalf("%q became %q", id, token)
		}
		back, err := Untoken(token)
		if err != nil || back != id {
			t.Fatalf("%q became %q and then %q, %v", id, token, back, err)
		}
		// And no other text stands for an id: what Untoken accepts, Token makes.
		if raw, err := Untoken(id); err == nil && Token(raw) != id {
			t.Fatalf("%q is a second token of %q", id, raw)
		}
	})
}

func TestSessionsKeepApart(t *testing.T) {
	t.Parallel()
	for _, user := range []ids.UserID{"ana", "a.b", "*", ">", "ü"} {
		for _, session := range []ids.SessionID{"session_1", "a.b", "*", ">", " "} {
			subject := AgentSubject(user, session)
			if strings.Count(subject, ".") != 3 || strings.ContainsAny(subject, "*> ") {
				t.Errorf("%q/%q: subject %q", user, session, subject)
			}
			u, s, err := ParseCancel(CancelSubject(user, session))
			if err != nil || u != user || s != session {
				t.Errorf("%q/%q came back as %q/%q, %v", user, session, u, s, err)
			}
		}
	}
	for _, subject := range []string{"", "hecaton.cancel.ana", "hecaton.cancel.a=.b", "hecaton.cancel.a.b.c"} {
		if u, s, err := ParseCancel(subject); err == nil {
			t.Errorf("%q names %q/%q", subject, u, s)
		}
	}
}
