package toolclient

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// peer is one gateway: a connection, and the stream on it that takes new calls.
type peer struct {
	// static after construction
	pool  *pool
	key   key
	conn  *grpc.ClientConn
	leave context.CancelFunc // lets the peer go once its calls are over
	log   *slog.Logger

	// guarded by pool.mu
	stream *stream   // nil while the peer is down
	err    error     // why it is
	avoid  time.Time // until when others are better
}

// stable is how long a stream must have lasted for the pauses to begin anew: one that is refused ends at once.
const stable = time.Second

// drainPause is how long a gateway that drains is left alone.
const drainPause = time.Second

// run keeps a stream open until the peer is no longer wanted, and returns when its calls are over. The end of life cuts
// them off.
func (p *peer) run(life, wanted context.Context) {
	var streams sync.WaitGroup // those that still have calls
	var tries pauses
	said := false // that the gateway is away
	for wanted.Err() == nil {
		began := time.Now()
		s, ctx, err := p.open(life, wanted)
		if err == nil {
			p.log.Debug("gateway connected")
			p.pool.up(p, s)
			said = false
			streams.Go(func() { s.run(life) })
			s.untilRetired(ctx, wanted)
			err = s.why()
		}
		p.pool.down(p, err)
		if !said && wanted.Err() == nil {
			said = true
			p.log.Warn("gateway is unreachable", "error", err)
		}
		if time.Since(began) > stable {
			tries = pauses{}
		}
		pause := tries.next()
		if drains(err) { // which does not end soon
			pause = drainPause
		}
		sleep.For(wanted, pause)
	}
	streams.Wait()
	p.leave()
	_ = p.conn.Close() // nothing is open on it
}

// open returns a stream on a connection that is established, and the context that ends with it.
func (p *peer) open(life, wanted context.Context) (*stream, context.Context, error) {
	ctx, cancel := context.WithCancel(life)
	still := context.AfterFunc(wanted, cancel)
	rpc, err := toolv1.NewToolServiceClient(p.conn).Calls(ctx, grpc.ForceCodecV2(newCodec()), grpc.MaxCallRecvMsgSize(maxAnswer))
	if err != nil {
		cancel()
		return nil, nil, err
	}
	if !still() {
		cancel()
		return nil, nil, context.Cause(wanted)
	}
	return newStream(p, rpc, ctx.Done(), cancel), ctx, nil
}

// maxAnswer bounds an answer; gateways have bounds of their own, which are tighter.
const maxAnswer = 256 << 20

// untilRetired returns once the stream takes no new calls: because it has ended, because the gateway said goodbye or its
// connection broke (a connection that is told to go away is no longer ready), or because the peer is not wanted any more.
func (s *stream) untilRetired(ctx, wanted context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(wanted, cancel)
	defer stop()
	// A stream may be there an instant before its connection says that it is ready.
	for state := s.peer.conn.GetState(); state == connectivity.Connecting || state == connectivity.TransientFailure; state = s.peer.conn.GetState() {
		if !s.peer.conn.WaitForStateChange(ctx, state) {
			break
		}
	}
	s.peer.conn.WaitForStateChange(ctx, connectivity.Ready)
	s.retire()
}
