package mcp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
)

// Transport types (docs/protocols/zeus-agents.md#tools-of-a-request).
const (
	StreamableHTTP = "streamable_http"
	SSE            = "sse"
	Stdio          = "stdio"
)

const (
	// maxAnswer bounds one answer of a server, in bytes.
	maxAnswer = 32 << 20
	// maxUnasked bounds a message that a server sends unasked.
	maxUnasked = 1 << 20
)

func transportType(config *agentv1.McpServer) string {
	if t := config.GetTransportType(); t != "" {
		return t
	}
	return StreamableHTTP
}

// Check refuses a configuration that cannot work, or is not allowed here, without connecting.
func Check(config *agentv1.McpServer, guard *netguard.Guard, processes bool) error {
	switch transportType(config) {
	case StreamableHTTP, SSE:
		return guard.Check(config.GetBaseUrl())
	case Stdio:
		switch {
		case !processes:
			return errs.New(errs.AddressRefused, "this server starts no processes, unless it is started with --mcp-stdio (MCP_STDIO); use transport_type streamable_http")
		case config.GetCommand() == "":
			return errs.New(errs.InvalidArgument, "command is required with transport_type stdio")
		}
		return nil
	}
	return errs.New(errs.InvalidArgument, "transport_type is %q, must be streamable_http, sse or stdio", config.GetTransportType())
}

// transport returns how to reach a server that passed Check. Where it is to listen, lost is closed when the stream on which the server
// speaks unasked is over.
func transport(config *agentv1.McpServer, guard *netguard.Guard, listening bool, lost chan struct{}) (sdk.Transport, error) {
	if transportType(config) == Stdio {
		return stdio{config}, nil
	}
	origin, err := url.Parse(config.GetBaseUrl())
	if err != nil {
		return nil, err
	}
	client := guard.Client()
	way := &httpTransport{next: client.Transport, origin: origin, header: headers(config)}
	if listening {
		way.lost = sync.OnceFunc(func() { close(lost) })
	}
	client.Transport = way
	if transportType(config) == SSE {
		return &sdk.SSEClientTransport{Endpoint: config.GetBaseUrl(), HTTPClient: client, MaxEventSize: maxAnswer}, nil
	}
	streamable := &sdk.StreamableClientTransport{
		Endpoint: config.GetBaseUrl(), HTTPClient: client,
		MaxEventSize:         -1, // the whole answer is bounded
		MaxRetries:           2,
		DisableStandaloneSSE: true, // messages that a server sends unasked are ignored
	}
	if listening { // a stream that breaks is opened again with its session
		streamable.DisableStandaloneSSE, streamable.MaxRetries, streamable.MaxEventSize = false, -1, maxUnasked
	}
	return streamable, nil
}

// headers are the configured ones, except those that the protocol itself sets; the key comes last.
func headers(config *agentv1.McpServer) http.Header {
	h := http.Header{}
	for name, value := range config.GetHeaders() {
		switch name = http.CanonicalHeaderKey(name); {
		case name == "Accept", name == "Content-Type", name == "Content-Length", name == "Host", name == "Last-Event-Id":
		case strings.HasPrefix(name, "Mcp-"):
		default:
			h.Set(name, value)
		}
	}
	if key := config.GetApiKey(); key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

// farewell is how long the end of a session, a DELETE, may take: nobody waits for a server that does not answer it.
const farewell = 500 * time.Millisecond

// httpTransport adds a server's headers where they belong, bounds its answers, and notes how far a request came.
type httpTransport struct {
	// static after construction
	next   http.RoundTripper
	origin *url.URL
	header http.Header
	lost   func() // told when the stream is over on which a server speaks unasked; nil where nobody listens
}

func (t *httpTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	f := flightOf(r.Context())
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		// A server that has not received the whole head cannot run anything.
		WroteHeaders: func() { f.setSent(true) },
	})
	if r.Method == http.MethodDelete {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, farewell)
		defer stop() // the answer's body is not read
	}
	r = r.Clone(ctx)
	if netguard.SameOrigin(r.URL, t.origin) { // neither a redirect nor an endpoint that the server names gets the key
		for name, values := range t.header {
			r.Header[name] = values
		}
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	f.setStatus(r.Method, response.StatusCode)
	unasked := r.Method == http.MethodGet || t.lost != nil && r.Header.Get("Mcp-Method") == "subscriptions/listen"
	switch {
	case !unasked:
		response.Body = &bounded{body: response.Body, left: maxAnswer, flight: f}
	case t.lost != nil && response.StatusCode == http.StatusOK: // a stream that lasts is bounded by event
		response.Body = &told{ReadCloser: response.Body, closed: t.lost}
	}
	return response, nil
}

// told is a body that says when it is closed.
type told struct {
	io.ReadCloser
	closed func()
}

func (t *told) Close() error {
	t.closed()
	return t.ReadCloser.Close()
}
