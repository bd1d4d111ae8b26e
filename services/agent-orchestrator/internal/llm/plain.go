package llm

import "sync"

// maxPlain bounds how many endpoints are remembered, since users can name any number.
const maxPlain = 1024

// plainEndpoints remembers the endpoints that refused stream_options, so that only the first request to each fails.
type plainEndpoints struct {
	mu    sync.Mutex
	known map[plainEndpoint]bool
}

type plainEndpoint struct{ baseURL, model string }

func (p *plainEndpoints) asks(e Endpoint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.known[plainEndpoint{e.BaseURL, e.Model}]
}

func (p *plainEndpoints) remember(e Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= maxPlain {
		p.known = map[plainEndpoint]bool{}
	}
	p.known[plainEndpoint{e.BaseURL, e.Model}] = true
}
