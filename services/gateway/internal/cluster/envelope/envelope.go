package envelope

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
)

const (
	headerCall   = "Hecaton-Call"
	headerReply  = "Hecaton-Reply"
	headerIntake = "Hecaton-Intake"
	headerTrace  = "Traceparent"
	headerEpoch  = "Hecaton-Epoch"
	headerAsker  = "Hecaton-Asker"
	headerClient = "Hecaton-Web"

	headerControl = "Hecaton-Control"
)

// CallTemplate is the subject of calls as spans name it: without anybody's id.
const CallTemplate = "hecaton.node.{user}.{node}.call"

// Call is what goes around a request frame.
type Call struct {
	ID       ids.CallID
	Deadline time.Time // absolute; a holder drops a call that comes later
	Kind     codec.Kind
	// Type is what the node has to be; UNSPECIFIED where either will do.
	Type nodev1.NodeType
	// Epoch is the node's connection that is meant; 0 for whichever there is.
	Epoch ids.Epoch
	// Traceparent is the W3C trace context of the caller; empty where there is none.
	Traceparent string
	// Intake is the size in bytes of a frame that is too large for one message: the holder answers with the subject to
	// which the frame is to be sent. 0 where the frame is the payload.
	Intake int
}

// Header returns c as message headers.
func (c Call) Header() nats.Header {
	b := make([]byte, 0, 64)
	b = append(b, c.ID...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, c.Deadline.UnixMilli(), 10)
	b = append(b, ' ', '0'+byte(c.Kind), ' ', '0'+byte(c.Type))
	h := nats.Header{headerCall: {string(b)}}
	if c.Traceparent != "" {
		h[headerTrace] = []string{c.Traceparent}
	}
	if c.Epoch != 0 {
		h[headerEpoch] = []string{strconv.FormatInt(int64(c.Epoch), 10)}
	}
	if c.Intake > 0 {
		h[headerIntake] = []string{strconv.Itoa(c.Intake)}
	}
	return h
}

// ParseCall reads the headers of a request.
func ParseCall(h nats.Header) (Call, error) {
	raw := get(h, headerCall)
	fields := strings.Split(raw, " ")
	if len(fields) != 4 || fields[0] == "" || len(fields[2]) != 1 || len(fields[3]) != 1 {
		return Call{}, fmt.Errorf("%s header %q: want id, deadline, kind and node type", headerCall, raw)
	}
	ms, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Call{}, fmt.Errorf("%s header %q: deadline: %w", headerCall, raw, err)
	}
	c := Call{
		ID: ids.CallID(fields[0]), Deadline: time.UnixMilli(ms), Kind: codec.Kind(fields[2][0] - '0'),
		Type: nodev1.NodeType(fields[3][0] - '0'), Traceparent: get(h, headerTrace),
	}
	if c.Epoch, err = parseEpoch(h); err != nil {
		return Call{}, err
	}
	c.Intake, err = parseIntake(h)
	return c, err
}

// IsCall tells a call from a frame that is none, which comes to the same subject.
func IsCall(m *nats.Msg) bool { return get(m.Header, headerCall) != "" }

func parseEpoch(h nats.Header) (ids.Epoch, error) {
	raw := get(h, headerEpoch)
	if raw == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s header %q: want an epoch", headerEpoch, raw)
	}
	return ids.Epoch(n), nil
}

func parseIntake(h nats.Header) (int, error) {
	raw := get(h, headerIntake)
	if raw == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s header %q: want a size in bytes", headerIntake, raw)
	}
	return n, nil
}

// ReplyKind tells the messages on a call's reply subject apart.
type ReplyKind string

const (
	// Answer carries the node's frame; its message has no header of ours.
	Answer ReplyKind = ""
	// Queued reports [calls.Queued].
	Queued ReplyKind = "queued"
	// Sent reports [calls.Sent], or that a frame which is no call was handed to its socket.
	Sent ReplyKind = "sent"
	// Working reports [calls.Working].
	Working ReplyKind = "working"
	// Progress carries the params of a notifications/progress.
	Progress ReplyKind = "progress"
	// Intake carries the subject to which a large frame is to be sent.
	Intake ReplyKind = "intake"
)

// failed begins the kind of a failure; the reason follows.
const failed = "failed "

// Status returns the message that reports a status.
func Status(subject string, s calls.Status) *nats.Msg {
	kind := map[calls.Status]ReplyKind{calls.Queued: Queued, calls.Sent: Sent, calls.Working: Working}[s]
	return Reply(subject, kind, nil)
}

// Reply returns a message of a kind that is not an answer.
func Reply(subject string, kind ReplyKind, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Header: nats.Header{headerReply: {string(kind)}}, Data: data}
}

// Failure returns the message that ends a call which was not answered.
func Failure(subject string, err *errs.Error) *nats.Msg {
	return Reply(subject, ReplyKind(failed+string(err.Reason)), []byte(err.Message))
}

// ParseReply tells what a message on a reply subject is. For a failure it returns the error.
func ParseReply(m *nats.Msg) (ReplyKind, *errs.Error) {
	if m.Header == nil {
		return Answer, nil
	}
	kind := get(m.Header, headerReply)
	if reason, ok := strings.CutPrefix(kind, failed); ok {
		return "", &errs.Error{Reason: errs.Reason(reason), Message: string(m.Data)}
	}
	return ReplyKind(kind), nil
}

// NoResponders reports whether the server says that nobody listens on a request's subject.
func NoResponders(m *nats.Msg) bool {
	return len(m.Data) == 0 && m.Header != nil && get(m.Header, "Status") == "503"
}

// Send returns the message that carries a frame to a node. asker names the client that waits for what the node will say;
// empty where none does. intake is as in [Call].
func Send(subject string, frame []byte, asker string, intake int) *nats.Msg {
	m := &nats.Msg{Subject: subject, Data: frame, Header: nats.Header{}}
	if asker != "" {
		m.Header[headerAsker] = []string{asker}
	}
	if intake > 0 {
		m.Header[headerIntake] = []string{strconv.Itoa(intake)}
		m.Data = nil
	}
	return m
}

// SendIntake returns the size of a frame that is still to be sent; 0 where it came with the message.
func SendIntake(m *nats.Msg) (int, error) { return parseIntake(m.Header) }

// Asker returns the client behind a message made by [Send].
func Asker(m *nats.Msg) string { return get(m.Header, headerAsker) }

// Topic returns the message that carries a frame to the clients that follow a topic, or to the one that is named.
func Topic(subject string, frame []byte, name string) *nats.Msg {
	m := &nats.Msg{Subject: subject, Data: frame}
	if name != "" {
		m.Header = nats.Header{headerClient: {name}}
	}
	return m
}

// ClientName returns the client that a message made by [Topic] is for; empty for all.
func ClientName(m *nats.Msg) string { return get(m.Header, headerClient) }

func get(h nats.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}
