package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// serve answers calls until the connection ends. rest is how long the node wants to be away; 0 where it did not want to go.
func (n *node) serve(ctx context.Context, ws *websocket.Conn) (rest time.Duration, err error) {
	ended := make(chan struct{})
	var helper sync.WaitGroup
	helper.Go(func() {
		beats := time.NewTicker(heartbeat)
		defer beats.Stop()
		for {
			select {
			case <-beats.C:
				n.send(ctx, ws, load.Heartbeat)
			case d := <-n.away:
				rest = max(d, 1)
				_ = ws.Close(websocket.StatusNormalClosure, "the node leaves")
				return
			case <-ctx.Done():
				select { // one after the other: the cluster has nothing from all leaving at once
				case <-time.After(time.Duration(n.index) * leaveEvery):
					_ = ws.Close(websocket.StatusNormalClosure, "the bench is over")
				case <-ended:
				}
				return
			case <-ended:
				return
			}
		}
	})
	lasting := context.WithoutCancel(ctx)
	for err == nil {
		var data []byte
		if data, err = read(lasting, ws); err == nil {
			n.handle(ctx, ws, data)
		}
	}
	_ = ws.CloseNow()
	close(ended)
	helper.Wait()
	return rest, err
}

// leaveEvery is the time between two nodes that leave at the end.
const leaveEvery = 200 * time.Microsecond

// read takes silence for a dead connection, as package node does.
func read(ctx context.Context, ws *websocket.Conn) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	_, data, err := ws.Read(ctx)
	return data, err
}

// call notes a call and answers it after the time that it says it takes.
func (n *node) call(ctx context.Context, ws *websocket.Conn, f jsonrpc.Frame) {
	var params struct {
		Name      string
		Arguments json.RawMessage
	}
	if json.Unmarshal(f.Params, &params) != nil {
		return // which the caller hears of as a timeout; a gateway sends none
	}
	var work struct {
		Micros int64 `json:"work_us"`
	}
	_ = json.Unmarshal(params.Arguments, &work) // what is not there is 0
	text := n.fleet.o.Book.Executed(n.index, Call{ID: string(jsonrpc.Text(f.ID)), Tool: params.Name, Arguments: params.Arguments})
	answer := append([]byte(`{"jsonrpc":"2.0","id":`), f.ID...)
	answer = append(answer, `,"result":{"content":[{"type":"text","text":`...)
	answer = append(jsonrpc.AppendString(answer, text), `}],"isError":false}}`...)
	n.fleet.work.Go(func() {
		if work.Micros > 0 {
			sleep.For(ctx, time.Duration(work.Micros)*time.Microsecond)
		}
		n.send(ctx, ws, answer)
	})
}

// workflowsSize is large enough for a client that does not read to be full soon.
const workflowsSize = 256 << 10

// workflows is the answer to a web client that asks for them (docs/protocols/zeus-nodes.md#workflows).
var workflows = sync.OnceValue(func() []byte {
	frame := append([]byte(`{"type":"workflows_list","success":true,"workflows":[{"id":"1","name":"`), bytes.Repeat([]byte("x"), workflowsSize)...)
	return append(frame, `"}]}`...)
})
