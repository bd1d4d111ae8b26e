package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/presence"
)

// Caller runs tool calls.
type Caller interface {
	Call(ctx context.Context, req router.Request, progress func(params []byte)) (*router.Answer, error)
}

// API serves the REST calls of nodes.
type API struct {
	Auth     *auth.Authenticator
	Presence *presence.Client
	Caller   Caller
	Limits   *limits.Limiter // nil for none
	// MaxBody bounds the body of a tool call, in bytes.
	MaxBody int64
}

// Routes adds the endpoints, each with and without the /api prefix.
func (a *API) Routes(mux *http.ServeMux) {
	guard := edge.Guard{
		Auth: a.Auth, Limits: a.Limits, Describe: func(err error) edge.Problem { return edge.NewProblem(err, Available) },
	}
	for _, prefix := range []string{"/api/node", "/node"} {
		mux.Handle("GET "+prefix+"/devices", guard.Identified(auth.ReadTools, edge.NoBody, a.devices))
		mux.Handle("GET "+prefix+"/session/{id}", guard.User(auth.Need{Scopes: auth.ReadTools.Scopes, AllNodes: true}, edge.NoBody, a.session))
		mux.Handle("POST "+prefix+"/bind", guard.Identified(auth.CallTools, edge.Small, a.bind))
		mux.Handle("POST "+prefix+"/browser/tool", guard.Identified(auth.CallTools, a.MaxBody, a.tool(nodev1.NodeType_NODE_TYPE_EXTENSION)))
		mux.Handle("POST "+prefix+"/desktop/tool", guard.Identified(auth.CallTools, a.MaxBody, a.tool(nodev1.NodeType_NODE_TYPE_DESKTOP)))
		mux.Handle("GET "+prefix+"/stats", guard.Anybody(auth.ReadTools, edge.NoBody, a.stats))
	}
}

// Available shows the nodes that an error says to choose from.
func Available(e *errs.Error) any { return shortList(e.Nodes) }

func (a *API) devices(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	kind, err := nodeType(r)
	if err != nil {
		return err
	}
	onlineOnly, gone, err := presenceFilter(r)
	if err != nil {
		return err
	}
	nodes, err := a.Presence.List(r.Context(), &nodev1.ListNodesRequest{UserId: string(id.User), NodeType: kind, IncludeOffline: gone})
	if err != nil {
		return err
	}
	list := make([]node, 0, len(nodes))
	for _, n := range nodes {
		if !id.Grant.Nodes.Has(ids.NodeID(n.GetInfo().GetNodeId())) {
			continue
		}
		if !onlineOnly || n.GetStatus() != nodev1.NodeStatus_NODE_STATUS_OFFLINE {
			list = append(list, full(n))
		}
	}
	edge.JSON(w, http.StatusOK, map[string]any{"nodes": list, "total": len(list)})
	return nil
}

// presenceFilter reads online_only: true leaves out nodes that call themselves offline, false adds those that went away
// within the last minute, and without it the list has the connected ones.
func presenceFilter(r *http.Request) (onlineOnly, gone bool, err error) {
	raw := r.URL.Query().Get("online_only")
	if raw == "" {
		return false, false, nil
	}
	onlineOnly, err = strconv.ParseBool(raw)
	if err != nil {
		return false, false, &edge.BadRequest{Message: fmt.Sprintf("online_only is %q, must be true or false", raw)}
	}
	return onlineOnly, !onlineOnly, nil
}

func nodeType(r *http.Request) (nodev1.NodeType, error) {
	raw := r.URL.Query().Get("node_type")
	if raw == "" {
		return nodev1.NodeType_NODE_TYPE_UNSPECIFIED, nil
	}
	t, ok := nodetype.Parse(raw)
	if !ok {
		return t, &edge.BadRequest{Message: fmt.Sprintf("node_type is %q, must be extension or desktop", raw)}
	}
	return t, nil
}

func (a *API) session(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	id := r.PathValue("id")
	if err := ids.Check("session_id", id); err != nil {
		return err
	}
	kind, err := nodeType(r)
	if err != nil {
		return err
	}
	s, err := a.Presence.Session(r.Context(), &nodev1.GetSessionRequest{UserId: string(user), SessionId: id, NodeType: kind})
	if err != nil {
		return err
	}
	body := struct {
		SessionID         string      `json:"session_id"`
		NodeID            *string     `json:"node_id"`
		Node              *shortNode  `json:"node"`
		RequiresSelection bool        `json:"requires_selection"`
		AvailableNodes    []shortNode `json:"available_nodes"`
	}{SessionID: id, RequiresSelection: s.GetRequiresSelection(), AvailableNodes: shortList(s.GetAvailableNodes())}
	if s.GetNodeId() != "" {
		bound := short(s.GetNode())
		bound.NodeID = s.GetNodeId()
		body.NodeID, body.Node = &s.NodeId, &bound
	}
	edge.JSON(w, http.StatusOK, body)
	return nil
}

func (a *API) bind(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	var body struct {
		SessionID string `json:"session_id"`
		NodeID    string `json:"node_id"`
	}
	if err := edge.Decode(r, &body); err != nil {
		return err
	}
	if err := errors.Join(ids.Check("session_id", body.SessionID), ids.Check("node_id", body.NodeID)); err != nil {
		return err
	}
	if err := id.Grant.Nodes.AllowNode(ids.NodeID(body.NodeID)); err != nil {
		return err
	}
	user := id.User
	n, err := a.Presence.Bind(r.Context(), &nodev1.BindSessionRequest{
		UserId: string(user), SessionId: body.SessionID, NodeId: body.NodeID,
	})
	if err != nil {
		return err
	}
	name := n.GetInfo().GetNodeName()
	if name == "" { // seen once, gone now
		name = body.NodeID
	}
	edge.JSON(w, http.StatusOK, map[string]any{
		"success": true,
		"message": "Session bound to " + name,
		"binding": map[string]string{"session_id": body.SessionID, "user_id": string(user), "node_id": body.NodeID},
	})
	return nil
}

// stats are nobody's own, so in trusted mode no user has to be named.
func (a *API) stats(w http.ResponseWriter, r *http.Request) error {
	st, err := a.Presence.Stats(r.Context())
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, map[string]int32{
		"extension_connections": st.GetExtensionConnections(),
		"desktop_connections":   st.GetDesktopConnections(),
		"web_connections":       st.GetWebConnections(),
		"pending_requests":      st.GetPendingRequests(),
	})
	return nil
}
