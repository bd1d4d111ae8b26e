package llm

import "sync"

// maxPlain bounds what is remembered: endpoints come from users as well.
const maxPlain = 1024

// plainEndpoints remembers who refused stream_options, so that only the first request is in vain.
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
