package load

import "encoding/json"

// Registration is what a simulated node says of itself (docs/protocols/zeus-nodes.md#register).
type Registration struct {
	Type         string   `json:"type"`
	NodeID       string   `json:"node_id"`
	NodeName     string   `json:"node_name"`
	NodeType     string   `json:"node_type"`
	OS           string   `json:"os"`
	AppVersion   string   `json:"app_version"`
	Capabilities []string `json:"capabilities"`
	Tools        []string `json:"available_tools"`
	// Places is how many calls the node takes at once.
	Places int `json:"max_concurrent_tasks"`
}

// Frame returns the frame that registers the node.
func (r Registration) Frame() ([]byte, error) {
	r.Type = "register"
	return json.Marshal(r)
}

// The other frames of a simulated node with nothing to do (docs/protocols/zeus-nodes.md#heartbeat).
var (
	Heartbeat = []byte(`{"type":"heartbeat","status":"online","current_tasks":0}`)
	Pong      = []byte(`{"type":"pong"}`)
)
