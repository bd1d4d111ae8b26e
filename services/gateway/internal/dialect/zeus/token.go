package zeus

import (
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
)

// renew takes {"type":"token","token":…}, with which a client stays for longer than the token that it came with, and returns
// the answer. A token that is refused changes nothing: the connection still ends with the one before.
func renew(c *dialect.Client, frame []byte) []byte {
	expires, err := c.Renew(jsonrpc.StringMember(frame, "token"))
	switch {
	case err != nil:
		return tokenRefused(err.Error())
	case expires.IsZero():
		return frameTokenAck
	}
	return tokenTaken(expires.Unix())
}

// frameTokenAck is the answer where tokens do not count, and so do not end.
var frameTokenAck = []byte(`{"type":"token_ack","success":true,"expires_at":null}`)

// tokenTaken says until when, in Unix seconds.
func tokenTaken(expires int64) []byte {
	b := strconv.AppendInt([]byte(`{"type":"token_ack","success":true,"expires_at":`), expires, 10)
	return append(b, '}')
}

func tokenRefused(problem string) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"token_ack","success":false,"error":`), problem)
	return append(b, '}')
}
