package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Kind is the type of a node; it chooses the endpoint and the form of client_id (docs/protocols/zeus-nodes.md#endpoints).
type Kind string

// The kinds of nodes.
const (
	Desktop   Kind = "desktop"
	Extension Kind = "extension"
)

// defaultConcurrentTasks is the default of max_concurrent_tasks (docs/protocols/zeus-nodes.md#register).
const defaultConcurrentTasks = 3

// capabilityMeta asks the gateway for params._meta (docs/protocols/zeus-nodes.md#metadata-of-a-call).
const capabilityMeta = "mcp_meta"

// Options describe a node. Server and UserID are required.
type Options struct {
	// Server is the base URL of any gateway: ws, wss, http or https. A path is kept as a prefix of /ws/….
	Server string
	// UserID names the owner.
	UserID string
	// NodeID names this node among its owner's. Default: desktop_<user> or ext_<user>.
	NodeID string
	// Kind is Desktop where left empty.
	Kind Kind

	// What people see of the node; the gateway fills in what is empty. OS defaults to runtime.GOOS.
	Name       string
	OS         string
	OSVersion  string
	AppVersion string

	// Capabilities are announced with mcp_meta added, which asks the gateway for progress tokens and trace context.
	Capabilities []string
	// MaxConcurrentTasks bounds the handlers that run at once; 0 means 3.
	MaxConcurrentTasks int

	// Token is asked for the bearer token of every connection, and again before the end of one that says when that is (a JWT):
	// what it returns then is shown to the gateway, which lets the connection live on. Nil, or an empty token, sends none. An
	// error delays the connection like one of the network; one that wraps ErrNotAllowed ends Run.
	Token func(context.Context) (string, error)
	// HTTPClient dials the WebSocket: the place for TLS settings, proxies and dialers. Default http.DefaultClient.
	HTTPClient *http.Client
	// OnState hears of every change of the connection, in order. It runs on Run's goroutine and must return soon.
	OnState func(State)
	// Logger gets the errors after which the node goes on. Nil discards them.
	Logger *slog.Logger
}

// StaticToken is a Token that never changes.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// withDefaults returns the options with every default filled in, or says what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	if o.Kind == "" {
		o.Kind = Desktop
	}
	if o.Kind != Desktop && o.Kind != Extension {
		return o, fmt.Errorf("kind %q is neither %q nor %q", o.Kind, Desktop, Extension)
	}
	if err := ids.Check("UserID", o.UserID); err != nil {
		return o, err
	}
	if o.NodeID == "" {
		o.NodeID = o.Kind.defaultNodePrefix() + o.UserID
	}
	if err := ids.Check("NodeID", o.NodeID); err != nil {
		return o, err
	}
	if o.MaxConcurrentTasks < 0 {
		return o, fmt.Errorf("MaxConcurrentTasks is %d, it must be positive, or 0 for the default of %d",
			o.MaxConcurrentTasks, defaultConcurrentTasks)
	}
	if o.MaxConcurrentTasks == 0 {
		o.MaxConcurrentTasks = defaultConcurrentTasks
	}
	if !slices.Contains(o.Capabilities, capabilityMeta) {
		o.Capabilities = append(slices.Clone(o.Capabilities), capabilityMeta)
	}
	if o.OS == "" {
		o.OS = runtime.GOOS
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// endpoint returns the URL to dial.
func (o Options) endpoint() (string, error) {
	if o.Server == "" {
		return "", errors.New("the Server is missing, for example ws://localhost:8080")
	}
	u, err := url.Parse(o.Server)
	if err != nil {
		return "", fmt.Errorf("the Server is not a URL: %w", err)
	}
	switch u.Scheme {
	case "http":
		u.Scheme = "ws"
	case "https":
		u.Scheme = "wss"
	case "ws", "wss":
	default:
		return "", fmt.Errorf("the Server %q must begin with ws://, wss://, http:// or https://", o.Server)
	}
	if u.Host == "" {
		return "", fmt.Errorf("the Server %q has no host", o.Server)
	}
	u = u.JoinPath("ws", string(o.Kind))
	u.RawQuery = "client_id=" + url.QueryEscape(o.Kind.clientPrefix()+o.UserID) + "&node_id=" + url.QueryEscape(o.NodeID)
	u.Fragment = ""
	return u.String(), nil
}

func (k Kind) clientPrefix() string {
	if k == Extension {
		return "user_"
	}
	return "desktop_"
}

func (k Kind) defaultNodePrefix() string {
	if k == Extension {
		return "ext_"
	}
	return "desktop_"
}
