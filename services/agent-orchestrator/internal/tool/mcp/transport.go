package mcp

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
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

// maxAnswer bounds one answer of a server, in bytes.
const maxAnswer = 32 << 20

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

// transport returns how to reach a server that passed Check.
func transport(config *agentv1.McpServer, guard *netguard.Guard) (sdk.Transport, error) {
	if transportType(config) == Stdio {
		return stdio{config}, nil
	}
	origin, err := url.Parse(config.GetBaseUrl())
	if err != nil {
		return nil, err
	}
	client := guard.Client()
	client.Transport = &httpTransport{next: client.Transport, origin: origin, header: headers(config)}
	if transportType(config) == SSE {
		return &sdk.SSEClientTransport{Endpoint: config.GetBaseUrl(), HTTPClient: client, MaxEventSize: maxAnswer}, nil
	}
	return &sdk.StreamableClientTransport{
		Endpoint: config.GetBaseUrl(), HTTPClient: client,
		MaxEventSize:         -1, // the whole answer is bounded
		MaxRetries:           2,
		DisableStandaloneSSE: true, // messages that a server sends unasked are ignored
	}, nil
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
	if r.Method != http.MethodGet { // a stream that lasts is bounded by event
		response.Body = &bounded{body: response.Body, left: maxAnswer, flight: f}
	}
	return response, nil
}
