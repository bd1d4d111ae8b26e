package tooltest

import (
	"context"
	"encoding/json"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// OverGRPC calls the tools of a user's node through a gateway's ToolService.
func OverGRPC(service toolv1.ToolServiceClient, user, node string) Caller {
	return func(ctx context.Context, tool string, arguments map[string]any) (json.RawMessage, error) {
		text, err := json.Marshal(arguments)
		if err != nil {
			return nil, err
		}
		response, err := service.CallTool(ctx, &toolv1.CallToolRequest{
			Call: &toolv1.Call{UserId: user, NodeId: node, ToolName: tool, ArgumentsJson: text},
		})
		if err != nil {
			return nil, err
		}
		if failure := response.GetAnswer().GetErrorJson(); failure != nil {
			var e Error
			if err := json.Unmarshal(failure, &e); err != nil {
				return nil, err
			}
			return nil, &e
		}
		return response.GetAnswer().GetResultJson(), nil
	}
}
