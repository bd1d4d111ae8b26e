package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/process/heap"
)

// sdkTool is the name of the tool that answers with a text of size bytes.
func sdkTool(size int) string { return fmt.Sprintf("text-%d", size) }

// playSDK runs the server of the official SDK with tools that only answer: what a call costs before anything is done. It has no
// sessions and answers in JSON, as our pods do, and collects garbage at their pace.
func playSDK(wiring) (Addresses, error) {
	heap.KeepHeadroom(heap.Headroom)
	server := sdk.NewServer(&sdk.Implementation{Name: "empty", Version: "1"}, nil)
	for _, size := range []int{smallResult, largeResult} {
		text := strings.Repeat("x", size)
		server.AddTool(&sdk.Tool{Name: sdkTool(size), InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
			})
	}
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return Addresses{}, err
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	go func() { slog.Error("the SDK's server", "error", (&http.Server{Handler: handler}).Serve(ln)) }()
	return Addresses{HTTP: ln.Addr().String()}, nil
}
