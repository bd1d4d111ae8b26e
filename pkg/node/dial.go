package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// dial does the handshake, with a token as a header so that it never stands in a URL, and returns the token, too.
func (n *Node) dial(ctx context.Context) (ws *websocket.Conn, token string, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.timing.dial)
	defer cancel()
	header := http.Header{}
	if token, err = n.token(ctx); err != nil {
		return nil, "", fmt.Errorf("get a token: %w", err)
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ws, response, err := websocket.Dial(ctx, n.url, &websocket.DialOptions{
		HTTPClient: n.opts.HTTPClient,
		HTTPHeader: header,
	})
	if err != nil {
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return nil, "", &RefusedError{Status: response.StatusCode, Body: excerpt(response.Body)}
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errAbandoned, err)
		}
		return nil, "", fmt.Errorf("connect to %s: %w", n.opts.Server, err)
	}
	ws.SetReadLimit(MaxFrameBytes)
	return ws, token, nil
}

// excerpt returns the beginning of a refusal; the WebSocket library has cut it to 1 KiB.
func excerpt(body io.Reader) string {
	if body == nil {
		return ""
	}
	text, _ := io.ReadAll(body)
	return strings.TrimSpace(string(text))
}
