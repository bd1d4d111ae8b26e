package chat

import (
	"context"
	"net/http"
	"net/url"
)

// Approval is a single call of an MCP client that waits for its user.
type Approval struct {
	ID   string `json:"id"`
	Tool string `json:"tool_name"`
	Node string `json:"node_id"`
	// Args is the beginning of the arguments; Cut says that there is more.
	Args string `json:"tool_args"`
	Cut  bool   `json:"args_cut"`
	Why  string `json:"why"`
}

const approvalsPath = "/api/approvals"

// Approvals are the calls that wait for the user.
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	var out struct {
		Approvals []Approval `json:"approvals"`
	}
	err := c.call(ctx, request{method: http.MethodGet, path: approvalsPath}, &out)
	return out.Approvals, err
}

// Decide approves or rejects one of them.
func (c *Client) Decide(ctx context.Context, id, decision string) error {
	return c.call(ctx, request{method: http.MethodPost, path: approvalsPath + "/" + url.PathEscape(id), body: map[string]string{"decision": decision}}, nil)
}
