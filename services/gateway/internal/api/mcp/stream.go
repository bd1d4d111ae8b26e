package mcp

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/http1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// stream is a response that tells of changes. It ends when its client closes it, when its token is over, and when the pod drains: then
// the client opens it again, and comes to another pod. It keeps nothing of the request that opened it, unless it watches tasks: most
// streams do nothing but be there.
type stream struct {
	beat      time.Duration
	ends      time.Time // zero for never
	revocable func(end func()) (stop func())
	news      news
	leave     <-chan struct{}
	close     []func()

	out   *reply
	meta  []byte     // what is said with each change; nil for nothing
	watch *taskWatch // nil where the client did not ask
	last  []byte     // what is said where the server ends the stream; nil for nothing
}

// open takes what a stream needs; serve gives it back.
func (a *API) open(
	ctx context.Context, from *catalogue.Request, about topics, revocable func(end func()) (stop func()),
) (*stream, error) {
	place, err := a.Limits.Stream(ctx, from.User)
	if err != nil {
		return nil, err
	}
	s := &stream{beat: a.Heartbeat, ends: from.Ends, revocable: revocable}
	leave, left := a.Streams.Enter(false)
	news, stop := a.hear(ctx, from, about)
	s.leave, s.news, s.close = leave, news, []func(){stop, left, place.Leave}
	return s, nil
}

// serve tells of changes until the stream ends: where it can be, after the handler has returned.
func (s *stream) serve(ctx context.Context) {
	if !http1.Later(s.out.w, s.run) {
		s.run(ctx)
	}
}

func (s *stream) run(ctx context.Context) {
	defer func() {
		for _, f := range s.close {
			f()
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.revocable(cancel)()
	var unwatch func()
	if s.watch != nil {
		unwatch = s.watch.start(ctx, s.meta)
	}
	more := s.follow(ctx)
	if unwatch != nil {
		unwatch()
	}
	if more && s.last != nil {
		s.out.answer(200, s.last)
	}
	s.out.end()
}

// follow sends news after each change. It returns true where the server ends the stream, and false where its client did.
func (s *stream) follow(ctx context.Context) bool {
	beat := time.NewTicker(s.beat)
	defer beat.Stop()
	var over <-chan time.Time
	if !s.ends.IsZero() {
		timer := time.NewTimer(time.Until(s.ends))
		defer timer.Stop()
		over = timer.C
	}
	for {
		select {
		case <-s.news.devices:
			s.out.event(notification("notifications/tools/list_changed", s.meta))
		case <-s.news.services:
			s.out.event(notification("notifications/tools/list_changed", s.meta))
		case <-s.news.prompts:
			s.out.event(notification("notifications/prompts/list_changed", s.meta))
		case <-s.news.screens:
			for _, uri := range s.news.changed() {
				s.out.event(notification("notifications/resources/updated", updated(uri, s.meta)))
			}
		case <-beat.C:
			s.out.comment()
		case <-s.leave:
			return true
		case <-over:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// updated are the params that name a resource.
func updated(uri string, meta []byte) []byte {
	b := jsonrpc.AppendString([]byte(`"uri":`), uri)
	if meta != nil {
		b = append(append(b, ','), meta...)
	}
	return b
}

// notification is one with these members as its params; nil for none.
func notification(method string, params []byte) []byte {
	b := append(append([]byte(`{"jsonrpc":"2.0","method":"`), method...), '"')
	if params != nil {
		b = append(append(append(b, `,"params":{`...), params...), '}')
	}
	return append(b, '}')
}
