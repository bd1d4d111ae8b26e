package envelope

import (
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// ToolCall returns the frame of a tool call as it travels on the bus: a JSON-RPC tools/call request. arguments is a JSON
// object; empty means {}.
func ToolCall(id, tool string, arguments []byte, session string) []byte {
	size := 192 + len(arguments) + len(tool) + len(session)
	return jsonrpc.Call{ID: id, Tool: tool, Arguments: arguments, SessionID: session}.Append(make([]byte, 0, size))
}

// Tool returns the tool that a frame made by [ToolCall] names; empty where it names none.
func Tool(frame []byte) string {
	if tool, ok := jsonrpc.ToolOf(frame); ok {
		return tool
	}
	f, err := jsonrpc.Skim(frame)
	if err != nil {
		return ""
	}
	return jsonrpc.StringMember(f.Params, "name")
}

// Outcome locates the result or the error in an answer as it travels on the bus: a JSON-RPC response that its holder has
// validated. An answer with neither counts as an error of the node.
func Outcome(answer []byte) (result, failure []byte) {
	f := jsonrpc.Locate(answer)
	switch {
	case !jsonrpc.IsNull(f.Error):
		return nil, f.Error
	case f.Result != nil:
		return f.Result, nil
	}
	return nil, []byte(`{"code":-32603,"message":"The node's answer has neither a result nor an error"}`)
}
