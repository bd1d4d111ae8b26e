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
	// Every run of a pod may be streaming from the same endpoint, and asks again a moment after its answer has ended: a
	// connection that was closed in between costs it a handshake.
	maxIdlePerHost = 1024
)

// Options of a Client; all of it is optional.
type Options struct {
	// Guarded carries requests to endpoints that are Guarded. Without it they are refused.
	Guarded http.RoundTripper
	// Stall is how long an endpoint may be silent, before its answer and within it; 0 means 60 s.
	Stall time.Duration
	// Logger is told of attempts that failed; nil means discard.
	Logger *slog.Logger
}

// Client asks models. It is safe for concurrent use.
type Client struct {
	// static after construction
	transport *http.Transport
	open      *http.Client
	guarded   *http.Client // nil where there is none
	stall     time.Duration
	log       *slog.Logger
	sleep     func(context.Context, time.Duration) error

	plain  plainEndpoints
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

// Close lets go of the connections. No Stream may be running.
func (c *Client) Close() {
	c.drains.Wait()
	c.transport.CloseIdleConnections()
}

// Stream asks the model and hands each piece of its answer to on, one after the other. It returns the whole answer, or
// what came of it and why it ended: an *[Error], on's error, or the context's cause. on may take its time: only the
// endpoint's silence counts as a stall.
func (c *Client) Stream(ctx context.Context, e Endpoint, r Request, on func(Delta) error) (Answer, error) {
	if err := c.check(e); err != nil {
		return Answer{}, err
	}
	wire := newWire(e, r)
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

// check refuses endpoints that cannot be asked.
func (c *Client) check(e Endpoint) error {
	if e.Guarded && c.guarded == nil {
		return &Error{Code: ModelUnavailable, Message: "models of one's own are not allowed here"}
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
