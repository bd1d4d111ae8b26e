package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// restClient speaks the REST API of a gateway for one user.
type restClient struct {
	server string // base URL
	user   string
	token  config.Secret // "" in trusted mode
}

// restNode is a node as the API describes it.
type restNode struct {
	NodeID      string `json:"node_id"`
	NodeType    string `json:"node_type"`
	Status      string `json:"status"`
	IsConnected bool   `json:"is_connected"`
}

// problem is an answer that is none (RFC 9457).
type problem struct {
	Status         int        `json:"status"`
	Title          string     `json:"title"`
	Detail         string     `json:"detail"`
	Error          string     `json:"error"`
	Reason         string     `json:"reason"`
	Outcome        string     `json:"outcome"`
	AvailableNodes []restNode `json:"available_nodes"`
}

// call runs one tool. The API has an endpoint for each type of node: where kind is "", the type is that of the node.
func (c restClient) call(ctx context.Context, kind string, what *toolv1.Call) (*answer, error) {
	if kind == "" {
		var err error
		if kind, err = c.kindOf(ctx, what.GetNodeId()); err != nil {
			return nil, err
		}
	}
	endpoint := map[string]string{"extension": "browser", "desktop": "desktop"}[kind]
	body, err := json.Marshal(map[string]any{
		"tool_name": what.GetToolName(), "tool_args": json.RawMessage(cmp.Or(string(what.GetArgumentsJson()), "{}")),
		"session_id": what.GetSessionId(), "node_id": what.GetNodeId(),
	})
	if err != nil {
		return nil, err
	}
	raw, err := c.do(ctx, http.MethodPost, "/api/node/"+endpoint+"/tool", body)
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(raw, &envelope); {
	case err != nil:
		return nil, &outcomeError{errs.Unknown, fmt.Errorf("the answer of %s is not JSON: %w", c.server, err)}
	case envelope.Error != nil:
		return &answer{raw: raw, jsonrpc: envelope.Error}, nil
	}
	got, err := newAnswer(envelope.Result)
	if err == nil {
		got.raw = raw
	}
	return got, err
}

// kindOf looks up the type of a node, or of the first connected one.
func (c restClient) kindOf(ctx context.Context, id string) (string, error) {
	raw, err := c.do(ctx, http.MethodGet, "/api/node/devices", nil)
	if err != nil {
		// Nothing was called yet, whatever happened to the question.
		return "", &outcomeError{errs.NotDelivered, err}
	}
	var list struct {
		Nodes []restNode `json:"nodes"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", &outcomeError{errs.NotDelivered, fmt.Errorf("the answer of %s is not JSON: %w", c.server, err)}
	}
	for _, n := range list.Nodes {
		if (id == "" || n.NodeID == id) && (n.NodeType == "desktop" || n.NodeType == "extension") {
			return n.NodeType, nil
		}
	}
	if id != "" {
		return "", errs.New(errs.NodeNotConnected, "user %s has no node %s connected", c.user, id)
	}
	return "", errs.New(errs.NodeNotConnected, "user %s has no node connected", c.user)
}

func (c restClient) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return c.send(ctx, restRequest{method: method, path: path, body: body})
}

// restRequest is one request. Its body is JSON where no other type is named.
type restRequest struct {
	method, path string
	query        url.Values
	kind         string
	body         []byte
}

// send returns the answer's body; anything but a success is an error.
func (c restClient) send(ctx context.Context, r restRequest) ([]byte, error) {
	base, err := url.Parse(strings.TrimSuffix(c.server, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, usage("--server %q must be a URL such as http://127.0.0.1:8080", c.server)
	}
	target := base.JoinPath(r.path)
	query := url.Values{"user_id": {c.user}}
	maps.Copy(query, r.query)
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, target.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", cmp.Or(r.kind, "application/json"))
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, transportError(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	if err != nil {
		return nil, &outcomeError{errs.Unknown, err}
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusCreated {
		return raw, nil
	}
	return nil, refusal(resp, raw)
}

// transportError tells a server that was never reached from one that did not answer.
func transportError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return &outcomeError{errs.NotDelivered, err}
	}
	return &outcomeError{errs.Unknown, err}
}

// refusal is the error in an answer other than 200.
func refusal(resp *http.Response, raw []byte) error {
	var p problem
	if json.Unmarshal(raw, &p) != nil {
		p = problem{Detail: strings.TrimSpace(string(raw[:min(len(raw), 500)]))}
	}
	message := cmp.Or(p.Detail, p.Error, p.Title, resp.Status)
	if reason := errs.Reason(p.Reason); reason.OfCall() {
		e := errs.New(reason, "%s", strings.TrimPrefix(message, p.Reason+": "))
		for _, n := range p.AvailableNodes {
			e.Nodes = append(e.Nodes, n.proto())
		}
		return e
	}
	said := fmt.Errorf("%s (%s)", message, resp.Status)
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return &usageError{said}
	case http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return &outcomeError{errs.NotDelivered, said}
	}
	return &outcomeError{errs.Unknown, said}
}

func (n restNode) proto() *nodev1.Node {
	kind, _ := nodetype.Parse(n.NodeType)
	status, _ := nodetype.ParseStatus(n.Status)
	return &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: n.NodeID, NodeType: kind}, Status: status, IsConnected: n.IsConnected}
}
