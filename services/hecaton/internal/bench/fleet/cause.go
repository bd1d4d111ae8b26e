package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// cause is why a connection ended or could not be made, in a few words that can be counted.
type cause struct {
	name string
	// final says that a program would not connect again (docs/protocols/zeus-nodes.md#close-codes).
	final bool
	// hopeless says that no node of this user will get further.
	hopeless bool
}

// httpError is a handshake that was answered with something else than a socket.
type httpError struct {
	status int
	body   string
}

func (e *httpError) Error() string {
	return fmt.Sprintf("HTTP %d %s: %s", e.status, http.StatusText(e.status), e.body)
}

// errRefused is a registration that was answered with success false.
var errRefused = errors.New("the gateway did not register the node")

const superseded = 4409

var finalCodes = map[websocket.StatusCode]bool{4001: true, 4003: true, 4009: true, superseded: true}

func causeOf(err error) cause {
	var closed websocket.CloseError
	var answered *httpError
	var dial *net.OpError
	switch {
	case errors.As(err, &closed):
		// A node that came again before a slow gateway had taken its first connection is superseded by itself.
		final := finalCodes[closed.Code]
		return cause{fmt.Sprintf("closed with %d", closed.Code), final, final && closed.Code != superseded}
	case errors.As(err, &answered):
		denied := answered.status == http.StatusUnauthorized || answered.status == http.StatusForbidden
		return cause{fmt.Sprintf("HTTP %d", answered.status), denied, denied}
	case errors.Is(err, errRefused):
		return cause{"registration refused", true, true}
	case errors.As(err, &dial) && dial.Op == "dial":
		return cause{name: "connection refused"}
	case errors.Is(err, context.DeadlineExceeded):
		return cause{name: "silence"}
	}
	return cause{name: "connection lost"}
}
