package zeus

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

func upgrade(rawQuery string) *http.Request {
	return &http.Request{URL: &url.URL{Path: "/ws/extension", RawQuery: rawQuery}}
}

func TestALongUserIDCutsTheDefaultNodeID(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{
		strings.Repeat("u", 252):      "ext_" + strings.Repeat("u", 252),
		strings.Repeat("u", 253):      "ext_" + strings.Repeat("u", 252),
		strings.Repeat("u", 256):      "ext_" + strings.Repeat("u", 252),
		strings.Repeat("漢", 85) + "u": "ext_" + strings.Repeat("漢", 84),
	} {
		got, node, refused := nodeParams(upgrade("client_id=user_"+url.QueryEscape(user)), extension)
		if refused != nil || string(got) != user || string(node) != want {
			t.Errorf("%d bytes: %d bytes, %v", len(user), len(node), refused)
		}
	}
}

// FuzzNodeParams: whatever the URL says, the ids are valid ones, or the connection is refused with a reason.
func FuzzNodeParams(f *testing.F) {
	for _, q := range []string{
		"client_id=user_abc123&node_id=ext_001", "client_id=desktop_abc123", "client_id=user_", "client_id=", "", "node_id=n",
		"client_id=user_a%00b", "client_id=user_%ff", "client_id=a;b&node_id=c%3Bd", "client_id=%zz", "client_id=user_%2e%2e%2f*>",
		"client_id=user_" + strings.Repeat("x", 256), "client_id=user_" + strings.Repeat("x", 257), "client_id=user_" + strings.Repeat("%f0%9f%98%80", 64),
		"client_id=user_a&client_id=user_b", "client_id=user_a&node_id=" + strings.Repeat("n", 257), "client_id=user_a&node_id=%7f",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, rawQuery string) {
		for _, k := range []*kind{extension, desktop} {
			user, node, refused := nodeParams(upgrade(rawQuery), k)
			switch {
			case refused == nil:
				if ids.Check("user", string(user)) != nil || ids.Check("node", string(node)) != nil {
					t.Fatalf("%q: user %q, node %q", rawQuery, user, node)
				}
			case refused.Reason != conn.MissingID && refused.Reason != conn.NotAllowed || refused.Message == "":
				t.Fatalf("%q: %+v", rawQuery, refused)
			case user != "" || node != "":
				t.Fatalf("%q is refused, but for %q, %q", rawQuery, user, node)
			}
		}
	})
}

// FuzzWebParams is FuzzNodeParams for web clients.
func FuzzWebParams(f *testing.F) {
	for _, q := range []string{"user_id=abc123", "user_id=user_abc", "user_id=", "", "user_id=%00", "user_id=%ff%fe", "user_id=a;b", "user_id=+", "user_id=" + strings.Repeat("x", 257)} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, rawQuery string) {
		user, refused := webParams(upgrade(rawQuery))
		switch {
		case refused == nil:
			if ids.Check("user", string(user)) != nil {
				t.Fatalf("%q: user %q", rawQuery, user)
			}
		case refused.Reason != conn.MissingID && refused.Reason != conn.NotAllowed || refused.Message == "" || user != "":
			t.Fatalf("%q: %+v for %q", rawQuery, refused, user)
		}
	})
}
