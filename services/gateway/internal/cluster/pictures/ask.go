package pictures

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

const (
	// askKind is that of the topic, by user, on which pods ask for a picture; the body is the node's id.
	askKind = "mcp-picture"
	// askLimit is how long the pod that has the node may take.
	askLimit = 3 * time.Second
)

// Errors of Get.
var (
	// ErrNone says that the node has answered with no picture, since it connected or in the last hour.
	ErrNone = errors.New("no picture yet")
	// ErrAway says that no pod has the node.
	ErrAway = errors.New("not connected")
)

// Get returns the last picture of a node, wherever it is held.
func (k *Keeper) Get(ctx context.Context, key ids.Node) (Picture, error) {
	p, held := k.here(key)
	if !held {
		var err error
		if p, err = k.ask(ctx, key); err != nil {
			return p, err
		}
	}
	if !isBase64(p.Data) { // it was not looked at before, for the sake of the call that brought it
		return p, ErrNone
	}
	return p, nil
}

// ask asks the other pods. Only the one that has the node answers.
func (k *Keeper) ask(ctx context.Context, key ids.Node) (Picture, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	inbox := k.bus.NewInbox()
	sub, err := k.bus.SubscribeSync(inbox)
	if err != nil {
		return Picture{}, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails where the connection is closed
	if err := k.bus.PublishRequest(bus.TopicSubject(askKind, string(key.User)), inbox, []byte(key.Node)); err != nil {
		return Picture{}, err
	}
	var parts bus.Assembler // two pods may believe that they have the node
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrNoResponders):
			return Picture{}, ErrAway
		case err != nil:
			return Picture{}, err
		case len(m.Data) == 0 && m.Header.Get("Status") == "503": // there is no other pod
			return Picture{}, ErrAway
		}
		whole, err := parts.Add(m, MaxPicture+1<<10)
		if err != nil {
			return Picture{}, err
		}
		if whole != nil {
			return read(whole), nil
		}
	}
}

// answer serves other pods.
func (k *Keeper) answer(m *nats.Msg) {
	key := ids.Node{User: ids.UserID(bus.TopicID(m.Subject)), Node: ids.NodeID(m.Data)}
	p, held := k.here(key)
	if !held || m.Reply == "" {
		return
	}
	if err := k.bus.PublishAny(&nats.Msg{Subject: m.Reply, Data: write(p)}); err != nil {
		k.log.Warn("a picture does not reach another pod", "error", err)
	}
}

// write returns a picture as it crosses the bus: its time in Unix milliseconds, its type, and its data; a zero where there is none.
func write(p Picture) []byte {
	if len(p.Data) == 0 {
		return []byte("0")
	}
	b := strconv.AppendInt(make([]byte, 0, len(p.Data)+64), p.At.UnixMilli(), 10)
	return append(append(append(append(b, ' '), p.Type...), ' '), p.Data...)
}

// read reverses write.
func read(raw []byte) (p Picture) {
	at, rest, _ := bytes.Cut(raw, []byte(" "))
	kind, data, ok := bytes.Cut(rest, []byte(" "))
	ms, err := strconv.ParseInt(string(at), 10, 64)
	if !ok || err != nil {
		return p
	}
	return Picture{Data: data, Type: string(kind), At: time.UnixMilli(ms)}
}
