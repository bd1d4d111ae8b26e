package live

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// A message on the bus is a list of events, each after its length as a varint. An empty message says that the store has
// something new.

var errMessage = errors.New("live: not a message of this package")

// encode puts events into messages of at most most bytes. If one event is larger than that, an empty message replaces it
// and all events after it. Without events it returns one empty message, too.
func encode(events []*agentv1.Event, most int) (messages [][]byte, err error) {
	var m []byte
	for _, e := range events {
		size := proto.Size(e)
		framed := binary.MaxVarintLen32 + size
		if framed > most {
			if len(m) > 0 {
				messages = append(messages, m)
			}
			return append(messages, nil), nil // a follower that reads this event from the store reads the rest there, too
		}
		if len(m)+framed > most {
			messages, m = append(messages, m), nil
		}
		m = binary.AppendUvarint(m, uint64(size))
		if m, err = (proto.MarshalOptions{}).MarshalAppend(m, e); err != nil {
			return nil, err
		}
	}
	return append(messages, m), nil
}

func decode(message []byte) (events []*agentv1.Event, err error) {
	for len(message) > 0 {
		size, n := binary.Uvarint(message)
		if n <= 0 || size > uint64(len(message)-n) {
			return nil, errMessage
		}
		e := &agentv1.Event{}
		if err := proto.Unmarshal(message[n:n+int(size)], e); err != nil {
			return nil, errors.Join(errMessage, err)
		}
		events, message = append(events, e), message[n+int(size):]
	}
	return events, nil
}
