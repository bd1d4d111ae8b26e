package mcp_test

import (
	"context"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// role in the environment makes this program a server over stdio: "serve", or one that misbehaves.
const role = "HECATON_TEST_MCP"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		testkit.Main(m)
	case "serve":
		_ = newServer(nil).Run(context.Background(), &sdk.StdioTransport{}) //nolint:forbidigo // a process of its own
	case "deaf": // neither reads nor ends when it is asked
		ignoreSignals()
		select {}
	case "mute": // ends at once
	}
}
