package zeus

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// nodeParams reads the parameters of a node's URL (docs/protocols/zeus-nodes.md#endpoints). A client_id without the prefix of
// its endpoint is the user id as a whole.
func nodeParams(r *http.Request, k *kind) (ids.UserID, ids.NodeID, *dialect.Refusal) {
	q := query(r)
	user := strings.TrimPrefix(q.Get("client_id"), k.prefix)
	if user == "" {
		return "", "", missing("client_id is missing or a bare prefix")
	}
	if err := ids.Check("client_id", user); err != nil {
		return "", "", notAllowed(err)
	}
	node := q.Get("node_id")
	if node == "" {
		return ids.UserID(user), k.defaultNode(user), nil
	}
	if err := ids.Check("node_id", node); err != nil {
		return "", "", notAllowed(err)
	}
	return ids.UserID(user), ids.NodeID(node), nil
}

// defaultNode is the id of a node that names none. It is cut where the user's own id leaves no room for the prefix: the
// user has one such node only, so no two become the same.
func (k *kind) defaultNode(user string) ids.NodeID {
	id := k.deflt + user
	if len(id) <= ids.MaxBytes {
		return ids.NodeID(id)
	}
	end := ids.MaxBytes
	for !utf8.RuneStart(id[end]) {
		end--
	}
	return ids.NodeID(id[:end])
}

// query reads a URL's parameters. A semicolon is a character like any other, as it is to clients that write ids into the
// URL by hand; net/url would drop the parameter.
func query(r *http.Request) url.Values {
	q, _ := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")) // malformed parameters are missing
	return q
}

// webParams reads the parameters of a web client's URL.
func webParams(r *http.Request) (ids.UserID, *dialect.Refusal) {
	user := query(r).Get("user_id")
	if user == "" {
		return "", missing("user_id is missing")
	}
	if err := ids.Check("user_id", user); err != nil {
		return "", notAllowed(err)
	}
	return ids.UserID(user), nil
}

func missing(what string) *dialect.Refusal {
	return &dialect.Refusal{Reason: conn.MissingID, Message: what}
}

func notAllowed(err error) *dialect.Refusal {
	return &dialect.Refusal{Reason: conn.NotAllowed, Message: err.Error()}
}
