package llm

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
)

const (
	defaultStall = time.Minute
	// All runs of a pod may stream from the same endpoint, and each asks again shortly after its answer has ended. If the
	// connection were closed in between, each time would cost a handshake.
	maxIdlePerHost = 1024
)

// Options of a Client; all of it is optional.
type Options struct {
	// Guarded sends requests to endpoints that are Guarded. If it is nil, they are refused.
	Guarded http.RoundTripper
	// Stall is how long an endpoint may be silent, before its answer and within it; 0 means 60 s.
	Stall time.Duration
	// Logger is told of attempts that failed; nil means discard.
	Logger *slog.Logger
}

// Client sends requests to models. It is safe for concurrent use.
type Client struct {
	// static after construction
	transport *http.Transport
	open      *http.Client
	guarded   *http.Client // nil if there is none
	stall     time.Duration
	log       *slog.Logger
	sleep     func(context.Context, time.Duration) error

	plain  plainEndpoints
	tools  definitions
	drains sync.WaitGroup
}

// New checks the options and returns a Client. Close it.
func New(o Options) (*Client, error) {
	if err := options.NotNegative("llm", map[string]int64{"Stall": int64(o.Stall)}); err != nil {
		return nil, err
	}
	if o.Stall == 0 {
		o.Stall = defaultStall
	}
	c := &Client{
		transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: maxIdlePerHost,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true, // compressors hold pieces back
		},
		stall: o.Stall,
		log:   obs.OrDiscard(o.Logger),
		sleep: sleep,
	}
	c.open = httpClient(c.transport)
	if o.Guarded != nil {
		c.guarded = httpClient(o.Guarded)
	}
	return c, nil
}

func httpClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close closes the connections. No Stream may be running.
func (c *Client) Close() {
	c.drains.Wait()
	c.transport.CloseIdleConnections()
}

// Stream asks the model and calls on with each piece of its answer, one after the other, and with each pause between them. It returns the whole answer, or the
// part that came and why it ended: an *[Error], on's error, or the context's cause. The time that on takes does not count as
// a stall: only silence of the endpoint does.
func (c *Client) Stream(ctx context.Context, e Endpoint, r Request, on func(Delta) error) (Answer, error) {
	if err := c.check(e); err != nil {
		return Answer{}, err
	}
	wire := newWire(e, r)
	var err error
	if wire.tools, err = c.tools.list(r.Tools); err != nil {
		return Answer{}, err
	}
	usage := c.plain.asks(e)
	for tries := 0; ; {
		wire.askUsage(usage)
		answer, err := c.attempt(ctx, e, wire, on)
		if err == nil {
			answer.Usage = answer.Usage.or(func() Usage { return Usage{Estimate(r), estimateAnswer(answer)} })
			return answer, nil
		}
		var failed *Error
		if !errors.As(err, &failed) {
			return answer, err
		}
		if failed.plain && usage {
			usage = false
			c.plain.remember(e)
			continue
		}
		if failed.Started || !failed.again || tries == maxRetries {
			return answer, err
		}
		wait := backoff(tries, failed.after)
		tries++
		c.log.WarnContext(ctx, "a request to the model failed; it is sent again", "code", failed.Code, "why", failed.Message, "try", tries+1, "wait", wait)
		if err := c.sleep(ctx, wait); err != nil {
			return answer, err
		}
	}
}

// check refuses endpoints to which no request can be sent.
func (c *Client) check(e Endpoint) error {
	if e.Guarded && c.guarded == nil {
		return &Error{Code: ModelUnavailable, Message: "models of a user's own are not allowed here"}
	}
	if !isHTTP(e.BaseURL) {
		return &Error{Code: ModelUnavailable, Message: "the model's address is not a URL of a host over http or https"}
	}
	return nil
}

// httpFor returns the client that may reach the endpoint.
func (c *Client) httpFor(e Endpoint) *http.Client {
	if e.Guarded {
		return c.guarded
	}
	return c.open
}
