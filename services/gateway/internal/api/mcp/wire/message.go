package wire

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Message is one JSON-RPC message of a client. Its members are slices of the body.
type Message struct {
	// ID is JSON, a string or a number; nil for a notification.
	ID     []byte
	Method string // empty for a response
	// Params is an object, nil where there are none.
	Params []byte
	// Result or Error is that of a response.
	Result, Error []byte
	// Meta is the `_meta` of Params.
	Meta Meta
}

// HasVersion reports whether it names a version, as those of the stateless revisions do.
func (m *Meta) HasVersion() bool { return m.hasVersion }

// IsResponse reports whether the client answers a request of ours.
func (m *Message) IsResponse() bool { return m.Method == "" }

// IsNotification reports whether nobody waits for an answer.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// Body is what a client sent: one message, or a batch.
type Body struct {
	Messages []Message
	Batch    bool
}

// MaxBatch is how many messages a batch may have.
const MaxBatch = 64

// Read reads a body. The error answers a request without id, or one whose id could be read.
func Read(body []byte) (Body, []byte, *Error) {
	if err := jsonrpc.ValidRequest(body); err != nil {
		return Body{}, nil, &Error{Code: jsonrpc.CodeParseError, Message: "Parse error: " + err.Error(), Status: http.StatusBadRequest}
	}
	if first(body) != '[' {
		m, err := message(body)
		return Body{Messages: []Message{m}}, m.ID, err
	}
	b, err := Body{Batch: true}, (*Error)(nil)
	jsonrpc.Elements(body, func(element []byte) {
		if err != nil || len(b.Messages) == MaxBatch+1 {
			return
		}
		var m Message
		m, err = message(element)
		b.Messages = append(b.Messages, m)
	})
	switch {
	case err != nil:
	case len(b.Messages) == 0:
		err = BadRequest("Invalid request: the batch is empty")
	case len(b.Messages) > MaxBatch:
		err = BadRequest("Invalid request: a batch may have at most " + strconv.Itoa(MaxBatch) + " messages")
	}
	return b, nil, err
}

// first is the first byte of a JSON value.
func first(b []byte) byte {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// message reads one message, which is JSON. With an error it has the ID that the request had, if that is one.
func message(raw []byte) (Message, *Error) {
	var m Message
	if first(raw) != '{' {
		return m, BadRequest("Invalid request: a message must be a JSON object")
	}
	f := jsonrpc.Locate(raw)
	if f.ID != nil {
		if f.ID[0] != '"' && !isInteger(f.ID) {
			return m, BadRequest("Invalid request: an id must be a string or an integer")
		}
		m.ID = f.ID
	}
	if string(jsonrpc.Text(f.JSONRPC)) != "2.0" {
		return m, BadRequest(`Invalid request: jsonrpc must be "2.0"`)
	}
	if f.Method == nil {
		m.Result, m.Error = f.Result, f.Error
		if m.ID == nil || m.Result == nil && m.Error == nil {
			return m, BadRequest("Invalid request: a message must have a method, or an id and a result or an error")
		}
		return m, nil
	}
	m.Method = string(jsonrpc.Text(f.Method))
	if m.Method == "" {
		return m, BadRequest("Invalid request: method must be a string that is not empty")
	}
	if f.Params == nil {
		return m, nil
	}
	if !jsonrpc.IsObject(f.Params) {
		return m, BadParams("Invalid params: they must be an object")
	}
	m.Params = f.Params
	var err error
	if m.Meta, err = readMeta(f.Params); err != nil {
		return m, BadParams("Invalid params: " + err.Error())
	}
	return m, nil
}

func isInteger(raw []byte) bool {
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// Meta is what is read of a request's `_meta`.
type Meta struct {
	// Raw is the object, nil where there is none.
	Raw []byte
	// ProgressToken is JSON, a string or an integer; nil for none.
	ProgressToken []byte
	// Version and Capabilities are those of the stateless revisions. Capabilities is an object, or nil.
	Version      string
	hasVersion   bool
	Capabilities []byte
	Traceparent  string
	Tracestate   string
}

const metaPrefix = "io.modelcontextprotocol/"

// Names of members of `_meta` that the specification gives.
const (
	MetaServerInfo     = metaPrefix + "serverInfo"
	MetaSubscriptionID = metaPrefix + "subscriptionId"
)

// ExtensionTasks is the name of the tasks extension.
const ExtensionTasks = metaPrefix + "tasks"

func readMeta(params []byte) (m Meta, err error) {
	jsonrpc.Members(params, func(name, value []byte) {
		if string(name) == "_meta" {
			m.Raw = value
		}
	})
	if m.Raw == nil {
		return m, nil
	}
	if !jsonrpc.IsObject(m.Raw) {
		return m, errors.New("_meta must be an object")
	}
	jsonrpc.Members(m.Raw, func(name, value []byte) {
		switch string(name) {
		case "progressToken":
			if value[0] != '"' && !isInteger(value) {
				err = errors.New("_meta.progressToken must be a string or an integer")
				return
			}
			m.ProgressToken = value
		case metaPrefix + "protocolVersion":
			m.hasVersion = true
			m.Version = string(jsonrpc.Text(value))
			if m.Version == "" {
				err = errors.New("_meta[" + metaPrefix + "protocolVersion] must be a string")
			}
		case metaPrefix + "clientCapabilities":
			if !jsonrpc.IsObject(value) {
				err = errors.New("_meta[" + metaPrefix + "clientCapabilities] must be an object")
				return
			}
			m.Capabilities = value
		case "traceparent":
			m.Traceparent = string(jsonrpc.Text(value))
		case "tracestate":
			m.Tracestate = string(jsonrpc.Text(value))
		}
	})
	return m, err
}

// Member returns a member of `_meta`, nil where there is none.
func (m *Meta) Member(name string) []byte { return Member(m.Raw, name) }

// Member returns a member of a validated object as it stands, nil where there is none.
func Member(object []byte, name string) (found []byte) {
	jsonrpc.Members(object, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}
