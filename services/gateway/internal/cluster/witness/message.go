package witness

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// header says what a message is, who sends it, and the number of its question; with a space between.
const header = "Hecaton-Gateway"

type kind string

const (
	here   kind = "here"   // no payload
	gone   kind = "gone"   // the calls that were seen
	silent kind = "silent" // gone, with too much to say
	ask    kind = "ask"    // questions
	answer kind = "answer" // see appendAnswer
)

var errMessage = errors.New("malformed message between gateways")

type message struct {
	kind   kind
	from   ids.GatewayID
	number uint64 // of the question; 0 where there is none
	data   []byte
}

func (m message) to(subject string) *nats.Msg {
	value := string(m.kind) + " " + strconv.FormatUint(m.number, 10) + " " + string(m.from)
	return &nats.Msg{Subject: subject, Header: nats.Header{header: {value}}, Data: m.data}
}

func parse(m *nats.Msg) (message, error) {
	var value string
	if v := m.Header[header]; len(v) > 0 {
		value = v[0]
	}
	what, rest, _ := strings.Cut(value, " ")
	raw, from, ok := strings.Cut(rest, " ")
	number, err := strconv.ParseUint(raw, 10, 64)
	if !ok || err != nil || from == "" {
		return message{}, errMessage
	}
	return message{kind(what), ids.GatewayID(from), number, m.Data}, nil
}

const (
	digestSize   = 8
	questionSize = digestSize + 8 + 8 // and the age and the deadline in milliseconds
)

func appendQuestion(b []byte, q question) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(q.call))
	b = binary.BigEndian.AppendUint64(b, uint64(q.age.Milliseconds()))
	return binary.BigEndian.AppendUint64(b, uint64(q.deadline.UnixMilli()))
}

func parseQuestions(b []byte) ([]question, error) {
	if len(b)%questionSize != 0 {
		return nil, errMessage
	}
	questions := make([]question, 0, len(b)/questionSize)
	for ; len(b) > 0; b = b[questionSize:] {
		questions = append(questions, question{
			call:     digest(binary.BigEndian.Uint64(b)),
			age:      time.Duration(binary.BigEndian.Uint64(b[8:])) * time.Millisecond,
			deadline: time.UnixMilli(int64(binary.BigEndian.Uint64(b[16:]))),
		})
	}
	return questions, nil
}

// appendAnswer writes a byte for each question, 1 where the call may have been seen, else 0; then the gateways that the one
// which answers knows, each after a line break.
func appendAnswer(b []byte, maybe []bool, known []ids.GatewayID) []byte {
	for _, m := range maybe {
		if m {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	for _, id := range known {
		b = append(append(b, '\n'), id...)
	}
	return b
}

func parseAnswer(b []byte, questions int) (maybe []bool, known []ids.GatewayID, err error) {
	if len(b) < questions {
		return nil, nil, errMessage
	}
	for _, m := range b[:questions] {
		maybe = append(maybe, m != 0)
	}
	for id := range strings.FieldsFuncSeq(string(b[questions:]), func(r rune) bool { return r == '\n' }) {
		known = append(known, ids.GatewayID(id))
	}
	return maybe, known, nil
}

func appendDigests(b []byte, digests []digest) []byte {
	for _, p := range digests {
		b = binary.BigEndian.AppendUint64(b, uint64(p))
	}
	return b
}

func parseDigests(b []byte) (map[digest]struct{}, error) {
	if len(b)%digestSize != 0 {
		return nil, errMessage
	}
	digests := make(map[digest]struct{}, len(b)/digestSize)
	for ; len(b) > 0; b = b[digestSize:] {
		digests[digest(binary.BigEndian.Uint64(b))] = struct{}{}
	}
	return digests, nil
}
