package toolapi

import (
	"context"

	"google.golang.org/grpc"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// Description is ToolService with a CallTool whose response is encoded by reference: the generated handler can only
// return a *toolv1.CallToolResponse.
func Description() *grpc.ServiceDesc {
	desc := toolv1.ToolService_ServiceDesc
	desc.Methods = append([]grpc.MethodDesc(nil), desc.Methods...)
	for i, m := range desc.Methods {
		if m.MethodName == "CallTool" {
			desc.Methods[i].Handler = callToolHandler
		}
	}
	return &desc
}

func callToolHandler(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
	in := new(toolv1.CallToolRequest)
	if err := dec(in); err != nil {
		return nil, err
	}
	handler := func(ctx context.Context, req any) (any, error) {
		return srv.(*Service).callTool(ctx, req.(*toolv1.CallToolRequest))
	}
	if interceptor == nil {
		return handler(ctx, in)
	}
	info := &grpc.UnaryServerInfo{Server: srv, FullMethod: toolv1.ToolService_CallTool_FullMethodName}
	return interceptor(ctx, in, info, handler)
}
