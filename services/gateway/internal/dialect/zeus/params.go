package zeus

import (
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/conn"
)

// nodeParams reads the parameters of a node's URL (seed 000, "Connection Parameters"). A client_id without the prefix of
// its endpoint is the user id as a whole.
func nodeParams(r *http.Request, k kind) (ids.UserID, ids.NodeID, *refusal) {
	q := r.URL.Query()
	user := strings.TrimPrefix(q.Get("client_id"), k.prefix)
	if user == "" {
		return "", "", &refusal{conn.MissingID, "client_id is missing or a bare prefix"}
	}
	if err := ids.Check("client_id", user); err != nil {
		return "", "", &refusal{conn.NotAllowed, err.Error()}
	}
	node := q.Get("node_id")
	if node == "" {
		return ids.UserID(user), ids.NodeID(k.deflt + user), nil
	}
	if err := ids.Check("node_id", node); err != nil {
		return "", "", &refusal{conn.NotAllowed, err.Error()}
	}
	return ids.UserID(user), ids.NodeID(node), nil
}

// webParams reads the parameters of a web client's URL.
func webParams(r *http.Request) (ids.UserID, *refusal) {
	user := r.URL.Query().Get("user_id")
	if user == "" {
		return "", &refusal{conn.MissingID, "user_id is missing"}
	}
	if err := ids.Check("user_id", user); err != nil {
		return "", &refusal{conn.NotAllowed, err.Error()}
	}
	return ids.UserID(user), nil
}
