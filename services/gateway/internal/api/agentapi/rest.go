package agentapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// restJSON has the protos' names, and every field, so that clients need not know which may be absent.
var restJSON = &runtime.JSONPb{
	MarshalOptions:   protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true},
	UnmarshalOptions: protojson.UnmarshalOptions{DiscardUnknown: true},
}

// newREST returns the handlers that grpc-gateway makes of the protos.
func newREST(orchestrators grpc.ClientConnInterface) (*runtime.ServeMux, error) {
	nothing := func(string) (string, bool) { return "", false }
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, withSettings{restJSON}),
		runtime.WithIncomingHeaderMatcher(nothing), runtime.WithOutgoingHeaderMatcher(nothing),
		runtime.WithOutgoingTrailerMatcher(nothing),
		runtime.WithMetadata(func(ctx context.Context, _ *http.Request) metadata.MD {
			md, _ := metadata.FromOutgoingContext(ctx) // the user: the mux makes metadata of its own
			return md
		}),
		runtime.WithUnescapingMode(runtime.UnescapingModeAllExceptReserved), // "All" would split "a%2Fb", which is one id
		runtime.WithDisablePathLengthFallback(),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			restProblem(r, err).Write(w)
		}),
		runtime.WithRoutingErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
			edge.Problem{
				Type: "about:blank", Title: http.StatusText(code), Status: code,
				Error: "no such endpoint: " + r.Method + " " + r.URL.Path,
			}.Write(w)
		}),
		runtime.WithForwardResponseRewriter(rewrite),
	)
	return mux, errors.Join(
		agentv1.RegisterAgentServiceHandlerClient(context.Background(), mux, agentv1.NewAgentServiceClient(orchestrators)),
		agentv1.RegisterToolboxServiceHandlerClient(context.Background(), mux, agentv1.NewToolboxServiceClient(orchestrators)),
		agentv1.RegisterSkillServiceHandlerClient(context.Background(), mux, agentv1.NewSkillServiceClient(orchestrators)),
		agentv1.RegisterScheduleServiceHandlerClient(context.Background(), mux, agentv1.NewScheduleServiceClient(orchestrators)),
		agentv1.RegisterMemoryServiceHandlerClient(context.Background(), mux, agentv1.NewMemoryServiceClient(orchestrators)),
		agentv1.RegisterTokenServiceHandlerClient(context.Background(), mux, agentv1.NewTokenServiceClient(orchestrators)),
		agentv1.RegisterApprovalServiceHandlerClient(context.Background(), mux, agentv1.NewApprovalServiceClient(orchestrators)),
		agentv1.RegisterWorkspaceServiceHandlerClient(context.Background(), mux, agentv1.NewWorkspaceServiceClient(orchestrators)),
	)
}

func (a *API) serveREST(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	return a.forward(auth.OnBehalf(r.Context(), user), w, r)
}

// bothWays serves a path of the generated handlers with and without /api.
func (a *API) bothWays(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		r = r.Clone(r.Context())
		escaped := "/api" + r.URL.EscapedPath()
		r.URL.Path, r.URL.RawPath = "/api"+r.URL.Path, escaped
	}
	return a.serveREST(w, r, user)
}

// forward hands a request to the generated handlers. They see none of its headers: they would pass Authorization on, and
// take deadlines and methods from others.
func (a *API) forward(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	body, err := edge.ReadBody(r)
	if err == nil && len(body) > 0 {
		err = edge.CheckJSON(body)
	}
	if err != nil {
		return err
	}
	r = r.Clone(ctx)
	r.Header = http.Header{}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil } // again, for errors
	r.Body, _ = r.GetBody()
	r.URL.RawPath = r.URL.EscapedPath() // where it is empty they would decode Path a second time
	a.rest.ServeHTTP(w, r)
	return nil
}

// restProblem describes an error of the generated handlers or of an orchestrator.
func restProblem(r *http.Request, err error) edge.Problem {
	var malformed *runtime.HTTPStatusError
	if errors.As(err, &malformed) {
		return edge.NewProblem(&edge.BadRequest{Message: "the path is not escaped well"}, nil)
	}
	if st, ok := status.FromError(err); ok && st.Code() == codes.InvalidArgument && len(st.Details()) == 0 {
		var body []byte
		if again, err := r.GetBody(); err == nil {
			body, _ = io.ReadAll(again) // from memory
		}
		return edge.NewProblem(&edge.BadRequest{Message: blame(st.Message(), body)}, nil)
	}
	return problem(err)
}

// rewrite changes the answers whose form in JSON is not that of their protos.
func rewrite(_ context.Context, resp proto.Message) (any, error) {
	if whole, ok := resp.(interface{ XXX_ResponseBody() any }); ok {
		if s, ok := whole.XXX_ResponseBody().(*agentv1.Session); ok {
			return sessionView(s)
		}
		return resp, nil
	}
	switch resp := resp.(type) {
	case *agentv1.ListSessionsResponse:
		list := make([]json.RawMessage, len(resp.GetSessions()))
		for i, s := range resp.GetSessions() {
			var err error
			if list[i], err = sessionView(s); err != nil {
				return nil, err
			}
		}
		return map[string]any{"sessions": list, "next_cursor": resp.GetNextCursor()}, nil
	case *agentv1.ExchangeOAuthResponse: // null for what is not there (docs/protocols/zeus-agents.md#oauth)
		return struct {
			AccessToken  string   `json:"access_token"`
			RefreshToken *string  `json:"refresh_token"`
			ExpiresAt    *float64 `json:"expires_at"`
			TokenType    string   `json:"token_type"`
		}{resp.GetAccessToken(), resp.RefreshToken, resp.ExpiresAt, resp.GetTokenType()}, nil
	}
	return resp, nil
}

// sessionView shows a session's interrupt as its event does.
func sessionView(s *agentv1.Session) (json.RawMessage, error) {
	bare := proto.CloneOf(s)
	bare.Interrupt = nil
	raw, err := restJSON.Marshal(bare)
	if err != nil || s.GetInterrupt() == nil {
		return raw, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	shown := addFieldsOfInterrupt([]byte(`{"type":"interrupt"`), s.GetInterrupt())
	members["interrupt"] = append(shown, '}')
	return json.Marshal(members)
}
