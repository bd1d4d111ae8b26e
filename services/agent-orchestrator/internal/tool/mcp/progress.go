package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
)

// progress brings what a server says of the progress of calls to those who made them.
type progress struct {
	mu    sync.Mutex
	last  uint64                         // guarded by mu, as all below
	calls map[string]func(params []byte) // by token
}

// maxProgress bounds the message of one notification, in bytes.
const maxProgress = 1 << 10

// follow returns a token for a call whose progress each is told; done ends it.
func (p *progress) follow(each func(params []byte)) (token string, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	token = strconv.FormatUint(p.last, 10)
	if p.calls == nil {
		p.calls = map[string]func([]byte){}
	}
	p.calls[token] = each
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, token)
	}
}

// hear takes a notification. What is about no call, or one that is over, is dropped.
func (p *progress) hear(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	if r.Params == nil {
		return
	}
	token, _ := r.Params.ProgressToken.(string)
	said := struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"`
		Message  string  `json:"message,omitempty"`
	}{r.Params.Progress, r.Params.Total, tooldef.Cut(tooldef.Clean(r.Params.Message), maxProgress)}
	raw, err := json.Marshal(said)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if each := p.calls[token]; each != nil {
		each(raw) // does not block
	}
}
