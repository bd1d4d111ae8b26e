package agentapi

import (
	"bytes"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// AppendEvent writes an event with the names of the default dialect.
func AppendEvent(b []byte, e *agentv1.Event) []byte { return appendEvent(b, e, standard) }

// MaxSettings is the limit of approval settings.
const MaxSettings = maxSettings

// ParseInvoke and ParseResume read bodies.
var (
	ParseInvoke = parse(invokeRequest)
	ParseResume = parse(resumeRequest)
)

func parse[T any](read func([]byte) (T, error)) func([]byte) (T, error) {
	return func(body []byte) (none T, err error) {
		if err := edge.CheckJSON(body); err != nil {
			return none, err
		}
		return read(body)
	}
}

// ParseProto reads a body as the generated handlers do, and says what was wrong with it.
func ParseProto(body []byte, into proto.Message) {
	if edge.CheckJSON(body) != nil {
		return
	}
	if err := (withSettings{restJSON}).NewDecoder(bytes.NewReader(body)).Decode(into); err != nil {
		blame(err.Error(), body)
	}
}
